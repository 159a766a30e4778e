package main

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
)

func dial(ctx context.Context, t peerkit.Target, inbox *peerkit.Inbox) (peerkit.Client, peerkit.Declared, error) {
	wire, err := newTransport(t)
	if err != nil {
		return nil, peerkit.Declared{}, err
	}
	c := client.NewClient(wire, clientOptions(t.Full())...)
	c.OnNotification(func(n mcp.JSONRPCNotification) { inbox.Add(n.Method, n.Params) })
	if err := c.Start(ctx); err != nil {
		return nil, peerkit.Declared{}, err
	}
	request := mcp.InitializeRequest{}
	request.Params.ProtocolVersion = newestVersion
	request.Params.ClientInfo = mcp.Implementation{Name: t.Label, Version: "1.0.0"}
	result, err := c.Initialize(ctx, request)
	if err != nil {
		return nil, peerkit.Declared{}, err
	}
	return &connection{c, result.ProtocolVersion}, declared(t.Full()), nil
}

func newTransport(t peerkit.Target) (transport.Interface, error) {
	if t.SSE() {
		return transport.NewSSE(t.URL)
	}
	return transport.NewStreamableHTTP(t.URL, transportOptions()...)
}

type connection struct {
	client     *client.Client
	negotiated string
}

func (c *connection) Negotiated() string { return c.negotiated }

func (c *connection) Ping(ctx context.Context) error { return c.client.Ping(ctx) }

func (c *connection) Tools(ctx context.Context) ([]string, error) {
	result, err := c.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (c *connection) Call(ctx context.Context, name string, args map[string]any, token string) (peerkit.Outcome, error) {
	if args == nil {
		args = map[string]any{} // a nil map would go out as null
	}
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = name, args
	if token != "" {
		request.Params.Meta = &mcp.Meta{ProgressToken: token}
	}
	result, err := c.client.CallTool(ctx, request)
	if err != nil {
		return peerkit.Outcome{}, err
	}
	out := peerkit.Outcome{Structured: structuredContent(result), IsError: result.IsError}
	for _, block := range result.Content {
		data, err := json.Marshal(block)
		if err != nil {
			return out, err
		}
		var shape struct{ Type, Text string }
		if err := json.Unmarshal(data, &shape); err != nil {
			return out, err
		}
		out.Blocks = append(out.Blocks, shape.Type)
		out.Text += shape.Text
	}
	return out, nil
}

func (c *connection) SetLevel(ctx context.Context, level string) error {
	request := mcp.SetLevelRequest{}
	request.Params.Level = mcp.LoggingLevel(level)
	return c.client.SetLevel(ctx, request)
}

// Raw goes below the client, which has a method for each known request only.
func (c *connection) Raw(ctx context.Context, method string) (int, error) {
	response, err := c.client.GetTransport().SendRequest(ctx, transport.JSONRPCRequest{
		JSONRPC: "2.0", ID: mcp.NewRequestId("raw-1"), Method: method,
	})
	if err != nil {
		return 0, err
	}
	if response.Error == nil {
		return 0, nil
	}
	return response.Error.Code, nil
}

func (c *connection) Close() { _ = c.client.Close() }
