package main

import (
	"context"
	"net/http"
)

// endpointPath is where clients find the bridge.
const endpointPath = "/mcp"

// atEndpoint serves MCP at its path and tells everybody else where that is.
func atEndpoint(mcp http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == endpointPath || r.URL.Path == endpointPath+"/" {
			mcp.ServeHTTP(w, r)
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
