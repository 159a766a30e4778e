// Package peerkit holds what the Go peers have in common: the command line, the
// client's steps, the server's tools and the log of received messages. Each peer
// only adapts its SDK to the two interfaces Client and Caller.
package peerkit

import (
	"context"
	"fmt"
	"net/http"
	"os"
)

// Peer is one SDK version seen from both sides.
type Peer struct {
	Handler func() http.Handler
	SSE     func() http.Handler // of the HTTP+SSE transport
	// Stdio serves standard input and output until the client leaves; the posture
	// says which kinds of clients it accepts, where the SDK has the choice.
	Stdio func(ctx context.Context, posture string) error
	Dial  Dialer
}

// Main runs the peer as its command line says:
//
//	server [--sse] [PORT]
//	server --stdio [POSTURE]
//	client --targets FILE
//	client URL [--caps full|none] STEPS...
func Main(p Peer) {
	if err := run(p, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(p Peer, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: server [--sse] [PORT] | server --stdio [POSTURE] | client --targets FILE | client URL [--caps full|none] STEPS")
	}
	switch args[0] {
	case "server":
		if len(args) > 1 && args[1] == "--stdio" {
			return serveStdio(p, args[2:])
		}
		handler, path, args := p.Handler, "/mcp", args[1:]
		if len(args) > 0 && args[0] == "--sse" {
			handler, path, args = p.SSE, SSEPath, args[1:]
		}
		port := "0"
		if len(args) > 0 {
			port = args[0]
		}
		return serve(handler(), path, port)
	case "client":
		targets, err := parseTargets(args[1:])
		if err != nil {
			return err
		}
		runTargets(context.Background(), targets, p.Dial)
		return nil
	}
	return fmt.Errorf("unknown subcommand %q", args[0])
}
