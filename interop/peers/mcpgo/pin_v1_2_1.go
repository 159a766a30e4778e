//go:build mcpgo_v1_2_1

package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
)

// The newest version with an initialize handshake; the SDK's own newest one has
// no sessions.
const newestVersion = "2025-11-25"

var features = peerkit.Features{Elicitation: true, Sampling: true, Roots: true, Structured: true, ResourceLink: true}

// transportOptions opens the GET stream, which this client does only when told.
func transportOptions() []transport.StreamableHTTPCOption {
	return []transport.StreamableHTTPCOption{transport.WithContinuousListening()}
}

func clientOptions(full bool) []client.ClientOption {
	options := []client.ClientOption{client.WithLegacyProtocolOnly()}
	if full {
		options = append(options, client.WithElicitationHandler(user{}),
			client.WithSamplingHandler(user{}), client.WithRootsHandler(user{}))
	}
	return options
}

func declared(full bool) peerkit.Declared {
	return peerkit.Declared{Elicitation: full, Sampling: full, Roots: full}
}

// user answers what servers ask.
type user struct{}

func (user) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	action, content := peerkit.AnswerTo(r.Params.Message, r.Params.Mode)
	answer := mcp.ElicitationResponse{Action: mcp.ElicitationResponseAction(action)}
	if content != nil {
		answer.Content = content
	}
	return &mcp.ElicitationResult{ElicitationResponse: answer}, nil
}

func (user) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	message := mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent("hi")}
	return &mcp.CreateMessageResult{SamplingMessage: message, Model: "peer-model"}, nil
}

func (user) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///srv/one", Name: "one"}, {URI: "file:///srv/two"}}}, nil
}

func structuredContent(r *mcp.CallToolResult) any { return r.StructuredContent }

func serverOptions() []server.ServerOption {
	return []server.ServerOption{
		server.WithElicitation(), server.WithRoots(), server.WithCompletions(),
		server.WithPromptCompletionProvider(names{}),
	}
}

func httpOptions() []server.StreamableHTTPOption {
	return []server.StreamableHTTPOption{server.WithStateful(true)}
}

type names struct{}

func (names) CompletePromptArgument(_ context.Context, _ string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	values := []string{}
	for _, name := range []string{"Ada", "Alan", "Grace"} {
		if strings.HasPrefix(name, arg.Value) {
			values = append(values, name)
		}
	}
	return &mcp.Completion{Values: values, Total: len(values)}, nil
}

func setOutputSchema(tool *mcp.Tool, schema json.RawMessage) { tool.RawOutputSchema = schema }

func setStructured(result *mcp.CallToolResult, value json.RawMessage) {
	if value != nil {
		result.StructuredContent = value
	}
}

func resourceLink(uri, name string) mcp.Content {
	return mcp.NewResourceLink(uri, name, "", "text/plain")
}

func rawArguments(r mcp.CallToolRequest) (json.RawMessage, error) { return r.Params.RawArguments, nil }

func (c *caller) Elicit(ctx context.Context, message string, schema map[string]any) (string, string, error) {
	request := mcp.ElicitationRequest{Params: mcp.ElicitationParams{Message: message, RequestedSchema: schema}}
	result, err := c.server.RequestElicitation(ctx, request)
	if err != nil {
		return "", "", err
	}
	content, _ := result.Content.(map[string]any)
	name, _ := content["name"].(string)
	return string(result.Action), name, nil
}

func (c *caller) Sample(ctx context.Context, prompt string) (string, error) {
	request := mcp.CreateMessageRequest{}
	request.Messages = []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(prompt)}}
	request.MaxTokens = 10
	result, err := c.server.RequestSampling(ctx, request)
	if err != nil {
		return "", err
	}
	if text, ok := result.Content.(mcp.TextContent); ok {
		return text.Text, nil
	}
	content, _ := result.Content.(map[string]any)
	text, _ := content["text"].(string)
	return text, nil
}

func (c *caller) Roots(ctx context.Context) ([]string, error) {
	result, err := c.server.RequestRoots(ctx, mcp.ListRootsRequest{})
	if err != nil {
		return nil, err
	}
	var uris []string
	for _, root := range result.Roots {
		uris = append(uris, root.URI)
	}
	return uris, nil
}

func enableSampling(s *server.MCPServer) { s.EnableSampling() }
