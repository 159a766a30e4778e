package web

import "net/http"

// NewTransport returns what reaches the same site for other things than MCP:
// by the same proxies and with the same trust, without any of the headers.
func NewTransport(config SiteConfig) *http.Transport { return newTransport(config.withDefaults()) }
