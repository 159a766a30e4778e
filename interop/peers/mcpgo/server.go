package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
)

// states holds one *peerkit.State for each session id, or for each client that has
// no sessions: this SDK serves all of them from one server.
var states sync.Map

func handler() http.Handler { return server.NewStreamableHTTPServer(newServer(), httpOptions()...) }

func sseHandler() http.Handler { return server.NewSSEServer(newServer()) }

// stdio is served without the signal handling of the SDK's own function, which would
// keep the process from ending.
func stdio(ctx context.Context, _ string) error {
	return server.NewStdioServer(newServer()).Listen(ctx, os.Stdin, os.Stdout)
}

func newServer() *server.MCPServer {
	s := server.NewMCPServer("peer-mcpgo", "1.0.0", append(serverOptions(),
		server.WithToolCapabilities(true),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true),
		server.WithLogging(),
	)...)
	for _, def := range peerkit.Defs(features) {
		tool := mcp.NewToolWithRawSchema(def.Name, "peer tool "+def.Name, def.Input)
		setOutputSchema(&tool, def.Output)
		s.AddTool(tool, func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return runTool(ctx, s, def.Name, r)
		})
	}
	enableSampling(s)
	addResources(s)
	s.AddPrompt(mcp.NewPrompt("greet", mcp.WithArgument("name", mcp.RequiredArgument())), greet)
	return s
}

func runTool(ctx context.Context, s *server.MCPServer, name string, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := rawArguments(r)
	if err != nil {
		return nil, err
	}
	session := server.ClientSessionFromContext(ctx)
	if session == nil {
		return nil, errors.New("the call has no session")
	}
	state, _ := states.LoadOrStore(cmp.Or(statelessClient(r), session.SessionID()), peerkit.NewState())
	c := &caller{server: s, session: session.SessionID(), request: r}
	return toResult(peerkit.Run(ctx, name, args, features, state.(*peerkit.State), c)), nil
}

// statelessClient is the name that a request of the stateless revision carries.
func statelessClient(r mcp.CallToolRequest) string {
	if r.Params.Meta == nil {
		return ""
	}
	info, _ := r.Params.Meta.AdditionalFields["io.modelcontextprotocol/clientInfo"].(map[string]any)
	name, _ := info["name"].(string)
	return name
}

func toResult(r peerkit.Result) *mcp.CallToolResult {
	out := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: r.IsError}
	setStructured(out, r.Structured)
	if r.Text != "" {
		out.Content = append(out.Content, mcp.NewTextContent(r.Text))
	}
	if r.Links {
		out.Content = append(out.Content, resourceLink("demo://a", "a"))
	}
	if r.Audio {
		data := base64.StdEncoding.EncodeToString([]byte(peerkit.Wav))
		out.Content = append(out.Content, mcp.NewAudioContent(data, "audio/wav"))
	}
	return out
}

func addResources(s *server.MCPServer) {
	read := func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		text := "text of a"
		if id, ok := strings.CutPrefix(r.Params.URI, "demo://item/"); ok {
			text = "item " + id
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: text}}, nil
	}
	s.AddResource(mcp.NewResource("demo://a", "a", mcp.WithMIMEType("text/plain")), read)
	s.AddResourceTemplate(mcp.NewResourceTemplate("demo://item/{id}", "item"), read)
}

func greet(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	text := mcp.NewTextContent("Hello, " + r.Params.Arguments["name"])
	return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, text)}), nil
}

// caller is the way back to the client from within one tool call.
type caller struct {
	server  *server.MCPServer
	session string
	request mcp.CallToolRequest
}

func (c *caller) Progress(ctx context.Context, done, total int) error {
	if c.request.Params.Meta == nil || c.request.Params.Meta.ProgressToken == nil {
		return nil
	}
	return c.server.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
		"progressToken": c.request.Params.Meta.ProgressToken, "progress": done, "total": total,
	})
}

func (c *caller) Log(ctx context.Context, text string) error {
	return c.server.SendNotificationToClient(ctx, "notifications/message", map[string]any{
		"level": "info", "logger": "peer", "data": text,
	})
}

func (c *caller) Touch(ctx context.Context, uri string) error {
	return c.server.SendNotificationToClient(ctx, "notifications/resources/updated", map[string]any{"uri": uri})
}

// AddTool adds the tool for this session only: the server is shared.
func (c *caller) AddTool(_ context.Context, name string) error {
	tool := mcp.NewToolWithRawSchema(name, "", json.RawMessage(`{"type":"object","properties":{}}`))
	return c.server.AddSessionTool(c.session, tool, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("tool " + name), nil
	})
}
