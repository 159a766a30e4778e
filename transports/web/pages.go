package web

import (
	"net/http"

	"github.com/rs/cors"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// preflightSeconds is how long a browser may remember what it was told.
const preflightSeconds = 600

// Pages lets web pages whose origin the guard allows read the answers of next
// (Fetch, "CORS protocol"). Everybody else gets none of its headers: requests
// of foreign pages reach next as they are, which must refuse them.
//
// Any header may be sent, since which ones the upstream takes, Mcp-Param-*
// among them, is not known here. No credentials of the browser's own are
// allowed: clients of MCP send theirs themselves.
func Pages(guard *transports.Guard, next http.Handler) http.Handler {
	rules := cors.New(cors.Options{
		AllowOriginVaryRequestFunc: func(*http.Request, string) (bool, []string) { return true, nil }, // the guard has decided
		AllowedMethods:             []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodHead},
		AllowedHeaders:             []string{"*"},
		ExposedHeaders:             []string{mcp.HeaderSession, mcp.HeaderVersion, "WWW-Authenticate", "Retry-After"},
		MaxAge:                     preflightSeconds,
		// A page of the Internet may ask a bridge on this machine or in its
		// network: the operator named the page.
		AllowPrivateNetwork:  true,
		OptionsSuccessStatus: http.StatusNoContent,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") == "" || guard.Check(r) != nil {
			next.ServeHTTP(w, r)
			return
		}
		rules.ServeHTTP(w, r, next.ServeHTTP)
	})
}
