// Command everything is an MCP server with all the features that the official
// conformance suite asks a server for. It speaks the handshake revisions or the
// stateless one, never both.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const newest = "2026-07-28"

// server is the SDK's server and how it asks its clients.
type server struct {
	*mcp.Server
	stateless bool
}

func main() {
	stateless := flag.Bool("stateless", false, "speak the stateless revision alone")
	pipes := flag.Bool("stdio", false, "speak on the standard streams instead of HTTP")
	sse := flag.Bool("sse", false, "speak HTTP+SSE instead of Streamable HTTP")
	flag.Parse()
	s := newServer(*stateless)
	go s.touch()
	if *pipes {
		_ = s.Run(context.Background(), &mcp.StdioTransport{}) // it ends as its input does
		return
	}
	if *sse {
		serve("/sse", mcp.NewSSEHandler(s.any, nil))
	}
	options := &mcp.StreamableHTTPOptions{Stateless: s.stateless, PropagateRequestCancellation: s.stateless}
	if !s.stateless {
		options.EventStore = mcp.NewMemoryEventStore(nil) // streams that end can be taken up again
	}
	serve("/mcp", mcp.NewStreamableHTTPHandler(s.any, options))
}

func (s *server) any(*http.Request) *mcp.Server { return s.Server }

// serve prints the URL, and ends the process when standard input ends.
func serve(path string, handler http.Handler) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("{\"url\":\"http://%s%s\"}\n", listener.Addr(), path)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	log.Fatal(http.Serve(listener, handler))
}

func newServer(stateless bool) *server {
	s := &server{stateless: stateless}
	s.Server = mcp.NewServer(&mcp.Implementation{Name: "everything", Version: "1"}, &mcp.ServerOptions{
		SupportedProtocolVersions: versions(stateless),
		CompletionHandler:         complete,
		SubscribeHandler:          func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler:        func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	if stateless {
		s.AddReceivingMiddleware(refuseHandshakes)
	}
	s.addTools()
	s.addInquiries()
	s.addResources()
	s.addPrompts()
	return s
}

func versions(stateless bool) []string {
	if stateless {
		return []string{newest}
	}
	return slices.DeleteFunc(mcp.SupportedProtocolVersions(), func(v string) bool { return v == newest })
}

// refuseHandshakes answers initialize, which the SDK alone would accept, as the
// stateless revision wants.
func refuseHandshakes(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method != "initialize" {
			return next(ctx, method, r)
		}
		return nil, &jsonrpc.Error{
			Code: mcp.CodeUnsupportedProtocolVersion, Message: "Unsupported protocol version",
			Data: json.RawMessage(`{"supported":["` + newest + `"],"requested":""}`),
		}
	}
}

// touch updates the watched resource for as long as the process lives.
func (s *server) touch() {
	for range time.Tick(3 * time.Second) {
		_ = s.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: watched})
	}
}

func complete(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
}
