package main

import (
	"net/http"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// answerPages lets pages of the origins that the guard allows read what they
// are answered. Others get the refusal of the endpoint, which they cannot
// read.
func answerPages(guard *transports.Guard, next http.Handler) http.Handler {
	return web.Pages(guard, next)
}
