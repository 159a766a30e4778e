//go:build !mcpgo_v1_2_1

package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
)

// This version knows neither requests from the server nor structured results,
// and its client has no stream for what the server sends on its own.

const newestVersion = mcp.LATEST_PROTOCOL_VERSION

var features peerkit.Features

var errMissing = errors.New("not in this SDK version")

func transportOptions() []transport.StreamableHTTPCOption { return nil }

func clientOptions(bool) []client.ClientOption { return nil }

func declared(bool) peerkit.Declared { return peerkit.Declared{} }

func structuredContent(*mcp.CallToolResult) any { return nil }

func serverOptions() []server.ServerOption { return nil }

func httpOptions() []server.StreamableHTTPOption { return nil }

func setOutputSchema(*mcp.Tool, json.RawMessage) {}

func setStructured(*mcp.CallToolResult, json.RawMessage) {}

func resourceLink(string, string) mcp.Content { return mcp.NewTextContent("") }

func rawArguments(r mcp.CallToolRequest) (json.RawMessage, error) {
	return json.Marshal(r.Params.Arguments)
}

func (c *caller) Elicit(context.Context, string, map[string]any) (string, string, error) {
	return "", "", errMissing
}

func (c *caller) Sample(context.Context, string) (string, error) { return "", errMissing }

func (c *caller) Roots(context.Context) ([]string, error) { return nil, errMissing }

func enableSampling(*server.MCPServer) {}
