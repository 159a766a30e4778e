package main

import (
	"context"
	"net/http"

	"github.com/mcpbridge/mcpbridge/configs"
)

// endpointPath is where the servers of the demo are found.
const endpointPath = configs.EndpointPath

// answerOK tells whoever asks that the process runs. It is asked by platforms
// that address the listener by names of their own, and tells no more than that
// something listens, so no guard stands before it.
func answerOK(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok")) //nolint:errcheck // the client left
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
