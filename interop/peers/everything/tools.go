//lint:file-ignore SA1019 the suite still tests what the newest revision deprecates

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// purpose describes tools and prompts alike.
const purpose = "for the conformance suite"

var noArguments = json.RawMessage(`{"type":"object"}`)

func text(s string) *mcp.TextContent { return &mcp.TextContent{Text: s} }

func image1() *mcp.ImageContent { return &mcp.ImageContent{Data: picture(), MIMEType: "image/png"} }

func embedded() *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: plain("test://embedded", "embedded")}
}

func result(content ...mcp.Content) *mcp.CallToolResult { return &mcp.CallToolResult{Content: content} }

func (s *server) addTools() {
	s.addConstant("test_simple_text", result(text("a simple text")))
	s.addConstant("test_image_content", result(image1()))
	s.addConstant("test_audio_content", result(&mcp.AudioContent{Data: silence(), MIMEType: "audio/wav"}))
	s.addConstant("test_embedded_resource", result(embedded()))
	s.addConstant("test_multiple_content_types", result(text("three of them"), image1(), embedded()))
	s.addConstant("test_error_handling", &mcp.CallToolResult{IsError: true, Content: []mcp.Content{text("it always fails")}})
	s.addTool("test_tool_with_logging", noArguments, logging)
	s.addTool("test_logging_tool", noArguments, logging)
	s.addTool("test_tool_with_progress", noArguments, progressing)
	s.addTool("test_reconnection", noArguments, reconnecting)
	s.addTool("test_missing_capability", noArguments, demanding)
	s.addTool("json_schema_2020_12_tool", vocabulary, echoing)
	s.addTool("test_x_mcp_header", json.RawMessage(
		`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`), echoing)
	s.addTool("test_trigger_tool_change", noArguments, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.addConstant("added_later", result(text("new")))
		return result(text("added a tool")), nil
	})
	s.addTool("test_trigger_prompt_change", noArguments, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.addPrompt("added_later", func(map[string]string) mcp.Content { return text("new") })
		return result(text("added a prompt")), nil
	})
}

func (s *server) addTool(name string, schema json.RawMessage, run mcp.ToolHandler) {
	s.AddTool(&mcp.Tool{Name: name, Description: purpose, InputSchema: schema}, run)
}

func (s *server) addConstant(name string, always *mcp.CallToolResult) {
	s.addTool(name, noArguments, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return always, nil })
}

// vocabulary uses the keywords of JSON Schema 2020-12 that have to survive.
var vocabulary = json.RawMessage(`{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"city": {"type": "string"}, "street": {"type": "string"}}}},
	"type": "object",
	"properties": {
		"address": {"$ref": "#/$defs/address"}, "name": {"type": "string"}, "phone": {"type": "string"}, "email": {"type": "string"},
		"contactMethod": {"enum": ["email", "phone"]}
	},
	"allOf": [{"anyOf": [{"required": ["email"]}, {"required": ["phone"]}]}],
	"if": {"properties": {"contactMethod": {"const": "email"}}, "required": ["contactMethod"]},
	"then": {"required": ["email"]},
	"else": {"required": ["phone"]},
	"additionalProperties": false
}`)

func echoing(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return result(text("called with " + string(r.Params.Arguments))), nil
}

// The suite counts what arrives in a tenth of a second, with gaps.
const gap = 50 * time.Millisecond

func logging(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, line := range []string{"begun", "half way", "done"} {
		if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
			return nil, err
		}
		time.Sleep(gap)
	}
	return result(text("logged")), nil
}

func progressing(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token := r.Params.GetProgressToken()
	for done := 0.0; token != nil && done <= 100; done += 50 {
		params := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}
		if err := r.Session.NotifyProgress(ctx, params); err != nil {
			return nil, err
		}
		time.Sleep(gap)
	}
	return result(text(fmt.Sprint(token))), nil
}

// reconnecting ends the stream of the call and answers on the one that the client
// opens then.
func reconnecting(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if r.Extra != nil && r.Extra.CloseSSEStream != nil {
		r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: gap / 5})
	}
	time.Sleep(2 * gap)
	return result(text("answered after the stream had ended")), nil
}

func demanding(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if c := r.ClientCapabilities(); c != nil && c.Sampling != nil {
		return result(text("the client can sample")), nil
	}
	return nil, &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "needs a client that can sample",
		Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
	}
}
