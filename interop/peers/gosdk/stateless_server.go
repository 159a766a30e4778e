//go:build stateless

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const stateless = "2026-07-28"

// statelessHandler serves the stateless revision alone. What one client does is
// remembered under the name it introduces itself with, so that no state leaks
// between the clients that share this process.
func statelessHandler() http.Handler {
	servers := &byClient{servers: map[string]*mcp.Server{}}
	return mcp.NewStreamableHTTPHandler(servers.of, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true,
	})
}

type byClient struct {
	mu      sync.Mutex
	servers map[string]*mcp.Server
}

func (b *byClient) of(r *http.Request) *mcp.Server {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var message struct {
		Params struct {
			Meta struct {
				Client struct{ Name string } `json:"io.modelcontextprotocol/clientInfo"`
			} `json:"_meta"`
		}
	}
	// A body that is no request is refused by the SDK, whichever server gets it.
	_ = json.Unmarshal(body, &message)
	name := message.Params.Meta.Client.Name
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.servers[name] == nil {
		b.servers[name] = statelessServer()
	}
	return b.servers[name]
}

// statelessServer lacks the versions that the SDK would serve without sessions.
func statelessServer() *mcp.Server {
	server := newServer(stateless)
	server.AddReceivingMiddleware(refuseHandshakes)
	return server
}

// stdioOf serves standard input and output: the posture "dual" also has sessions.
func stdioOf(ctx context.Context, posture string) error {
	server := statelessServer()
	if posture == "dual" {
		server = newServer()
	}
	return server.Run(ctx, &mcp.StdioTransport{})
}

// refuseHandshakes answers initialize as the revision wants. The SDK alone accepts
// the handshake, in a version of which it then refuses every request.
func refuseHandshakes(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method != "initialize" {
			return next(ctx, method, r)
		}
		return nil, &jsonrpc.Error{
			Code: mcp.CodeUnsupportedProtocolVersion, Message: "Unsupported protocol version",
			Data: json.RawMessage(`{"supported":["` + stateless + `"],"requested":""}`),
		}
	}
}

// answer runs a tool. What the tool asks the client for becomes a result that
// requires input, and the retried call finds the answer.
func answer(ctx context.Context, def peerkit.ToolDef, state *peerkit.State, c *caller) *mcp.CallToolResult {
	asking := &askingCaller{caller: c}
	result := peerkit.Run(ctx, def.Name, c.request.Params.Arguments, features, state, asking)
	if asking.needed != nil {
		return &mcp.CallToolResult{
			InputRequests: mcp.InputRequestMap{"answer": asking.needed}, RequestState: "round two",
		}
	}
	return toResult(result)
}

var errAskFirst = errors.New("the client has to be asked first")

type askingCaller struct {
	*caller
	needed mcp.InputRequest
}

func (c *askingCaller) ask(request mcp.InputRequest) (mcp.InputResponse, error) {
	if given := c.request.Params.InputResponses["answer"]; given != nil {
		return given, nil
	}
	c.needed = request
	return nil, errAskFirst
}

func (c *askingCaller) Elicit(_ context.Context, message string, schema map[string]any) (string, string, error) {
	given, err := c.ask(&mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: schema})
	if err != nil {
		return "", "", err
	}
	result, ok := given.(*mcp.ElicitResult)
	if !ok {
		return "", "", errors.New("the answer is no elicitation result")
	}
	name, _ := result.Content["name"].(string)
	return result.Action, name, nil
}

// ElicitURL asks the user to visit a URL.
func (c *askingCaller) ElicitURL(_ context.Context, message, url string) (string, error) {
	params := &mcp.ElicitParams{Mode: "url", Message: message, URL: url}
	if opened := c.request.Session.InitializeParams(); opened != nil && opened.ProtocolVersion < stateless {
		params.ElicitationID = "consent-1" // which the SDK asks with, for a client with a session
	}
	given, err := c.ask(params)
	if err != nil {
		return "", err
	}
	result, ok := given.(*mcp.ElicitResult)
	if !ok {
		return "", errors.New("the answer is no elicitation result")
	}
	return result.Action, nil
}

func (c *askingCaller) Sample(_ context.Context, prompt string) (string, error) {
	message := &mcp.SamplingMessage{Role: "user", Content: &mcp.TextContent{Text: prompt}}
	given, err := c.ask(&mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{message}, MaxTokens: 10})
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(given)
	if err != nil {
		return "", err
	}
	// The SDK reads the answer into one of two types; the text is in both.
	var one struct{ Content struct{ Text string } }
	if json.Unmarshal(data, &one) == nil {
		return one.Content.Text, nil
	}
	var many struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(data, &many); err != nil || len(many.Content) == 0 {
		return "", errors.New("the answer is no sampling result")
	}
	return many.Content[0].Text, nil
}

func (c *askingCaller) Roots(context.Context) ([]string, error) {
	given, err := c.ask(&mcp.ListRootsParams{})
	if err != nil {
		return nil, err
	}
	result, ok := given.(*mcp.ListRootsResult)
	if !ok {
		return nil, errors.New("the answer is no list of roots")
	}
	var uris []string
	for _, root := range result.Roots {
		uris = append(uris, root.URI)
	}
	return uris, nil
}
