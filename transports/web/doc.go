// Package web is HTTP as the transports of MCP use it: requests of clients
// are read and answered within limits, and requests to one upstream keep its
// origin, its headers and its bounds.
//
// It refuses to know what a body means, which endpoint is which, and when to
// send something again.
package web
