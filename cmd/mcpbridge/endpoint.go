package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/mcpbridge/mcpbridge/configs"
)

// endpointPath is where clients find the bridge.
const endpointPath = configs.EndpointPath

// atPaths serves MCP at its path, and what further there is, and tells
// everybody else where that is. A slash at the end makes no difference.
func atPaths(mcp http.Handler, further map[string]http.Handler) http.Handler {
	paths := map[string]http.Handler{}
	for path, handler := range further {
		paths[strings.TrimSuffix(path, "/")] = handler
	}
	paths[endpointPath] = mcp
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handler := paths[strings.TrimSuffix(r.URL.Path, "/")]; handler != nil {
			handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte(`{"error":"not found","message":"the MCP endpoint is ` + endpointPath + `"}` + "\n")) //nolint:errcheck // the client left
	})
}

// letGo ends the standalone streams when leave is done: they have no end of
// their own, and a stop would wait for them.
func letGo(leave context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(leave, cancel)()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
