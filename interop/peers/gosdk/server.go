package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var features = peerkit.Features{Elicitation: true, URL: asksForVisits, Sampling: true, Roots: true, Structured: true, ResourceLink: true}

// newServer speaks the versions that are named, else all that the SDK has.
func newServer(versions ...string) *mcp.Server {
	accept := func(context.Context, *mcp.SubscribeRequest) error { return nil }
	options := &mcp.ServerOptions{
		CompletionHandler:  complete,
		SubscribeHandler:   accept,
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	}
	restrict(options, versions)
	server := mcp.NewServer(&mcp.Implementation{Name: "peer-gosdk", Version: "1.0.0"}, options)
	state := peerkit.NewState()
	for _, def := range peerkit.Defs(features) {
		tool := &mcp.Tool{Name: def.Name, Description: "peer tool " + def.Name, InputSchema: def.Input}
		if def.Output != nil {
			tool.OutputSchema = def.Output
		}
		server.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return answer(ctx, def, state, &caller{server, r}), nil
		})
	}
	addResources(server)
	server.AddPrompt(&mcp.Prompt{
		Name:      "greet",
		Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}},
	}, greet)
	return server
}

func toResult(r peerkit.Result) *mcp.CallToolResult {
	out := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: r.IsError}
	if r.Structured != nil {
		out.StructuredContent = r.Structured
	}
	if r.Text != "" {
		out.Content = append(out.Content, &mcp.TextContent{Text: r.Text})
	}
	if r.Links {
		out.Content = append(out.Content, &mcp.ResourceLink{URI: "demo://a", Name: "a"})
	}
	if r.Audio {
		out.Content = append(out.Content, &mcp.AudioContent{Data: []byte(peerkit.Wav), MIMEType: "audio/wav"})
	}
	return out
}

func addResources(server *mcp.Server) {
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		text := "text of a"
		if id, ok := strings.CutPrefix(r.Params.URI, "demo://item/"); ok {
			text = "item " + id
		}
		contents := &mcp.ResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: text}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
	}
	server.AddResource(&mcp.Resource{URI: "demo://a", Name: "a", MIMEType: "text/plain"}, read)
	server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "demo://item/{id}", Name: "item"}, read)
}

func greet(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	text := &mcp.TextContent{Text: "Hello, " + r.Params.Arguments["name"]}
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: text}}}, nil
}

func complete(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	values := []string{}
	for _, name := range []string{"Ada", "Alan", "Grace"} {
		if strings.HasPrefix(name, r.Params.Argument.Value) {
			values = append(values, name)
		}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}

// caller is the way back to the client from within one tool call.
type caller struct {
	server  *mcp.Server
	request *mcp.CallToolRequest
}

func (c *caller) Elicit(ctx context.Context, message string, schema map[string]any) (string, string, error) {
	result, err := c.request.Session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: schema})
	if err != nil {
		return "", "", err
	}
	name, _ := result.Content["name"].(string)
	return result.Action, name, nil
}

func (c *caller) Sample(ctx context.Context, prompt string) (string, error) {
	message := &mcp.SamplingMessage{Role: "user", Content: &mcp.TextContent{Text: prompt}}
	params := &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{message}, MaxTokens: 10}
	result, err := c.request.Session.CreateMessage(ctx, params)
	if err != nil {
		return "", err
	}
	text, _ := result.Content.(*mcp.TextContent)
	if text == nil {
		return "", nil
	}
	return text.Text, nil
}

func (c *caller) Roots(ctx context.Context) ([]string, error) {
	result, err := c.request.Session.ListRoots(ctx, nil)
	if err != nil {
		return nil, err
	}
	var uris []string
	for _, root := range result.Roots {
		uris = append(uris, root.URI)
	}
	return uris, nil
}

func (c *caller) Progress(ctx context.Context, done, total int) error {
	token := c.request.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	params := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(done), Total: float64(total)}
	return c.request.Session.NotifyProgress(ctx, params)
}

func (c *caller) Log(ctx context.Context, text string) error {
	return c.request.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Logger: "peer", Data: text})
}

func (c *caller) Touch(ctx context.Context, uri string) error {
	return c.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri})
}

func (c *caller) AddTool(_ context.Context, name string) error {
	tool := &mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
	c.server.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return toResult(peerkit.Result{Text: "tool " + name}), nil
	})
	return nil
}
