package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func connect(ctx context.Context, t peerkit.Target, inbox *peerkit.Inbox, over *http.Client) (*mcp.ClientSession, peerkit.Declared, error) {
	opts := clientOptions(t.Full(), inbox)
	client := mcp.NewClient(&mcp.Implementation{Name: t.Label, Version: "1.0.0"}, opts)
	client.AddReceivingMiddleware(noting(inbox))
	if t.Full() {
		client.AddRoots(&mcp.Root{URI: "file:///srv/one", Name: "one"}, &mcp.Root{URI: "file:///srv/two"})
	}
	session, err := client.Connect(ctx, transportTo(t, over), sessionOptions())
	if err != nil {
		return nil, peerkit.Declared{}, err
	}
	declared := peerkit.Declared{Elicitation: t.Full(), URL: t.Full() && asksForVisits, Sampling: t.Full(), Roots: t.Full() && rootsDeclared(t.Full())}
	return session, declared, nil
}

// acknowledged says that a subscription has begun.
const acknowledged = "notifications/subscriptions/acknowledged"

// noting puts that into the inbox, for which the SDK has no handler.
func noting(inbox *peerkit.Inbox) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == acknowledged {
				inbox.Add(method, r.GetParams())
			}
			return next(ctx, method, r)
		}
	}
}

func clientOptions(full bool, inbox *peerkit.Inbox) *mcp.ClientOptions {
	opts := &mcp.ClientOptions{
		ToolListChangedHandler: func(_ context.Context, r *mcp.ToolListChangedRequest) {
			inbox.Add("notifications/tools/list_changed", r.Params)
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			inbox.Add("notifications/resources/updated", r.Params)
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			inbox.Add("notifications/message", r.Params)
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			inbox.Add("notifications/progress", r.Params)
		},
	}
	if full {
		opts.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			action, content := peerkit.AnswerTo(r.Params.Message, modeOf(r.Params))
			return &mcp.ElicitResult{Action: action, Content: content}, nil
		}
		opts.CreateMessageHandler = func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "peer-model", Role: "assistant", Content: &mcp.TextContent{Text: "hi"}}, nil
		}
	}
	clientCapabilities(opts, full)
	return opts
}

type connection struct{ session *mcp.ClientSession }

func (c *connection) Negotiated() string { return c.session.InitializeResult().ProtocolVersion }

func (c *connection) Ping(ctx context.Context) error { return c.session.Ping(ctx, nil) }

func (c *connection) Tools(ctx context.Context) ([]string, error) {
	var names []string
	for tool, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return names, err
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

func (c *connection) Call(ctx context.Context, name string, args map[string]any, token string) (peerkit.Outcome, error) {
	return c.callWith(ctx, name, args, token, mcp.Meta{})
}

func (c *connection) callWith(ctx context.Context, name string, args map[string]any, token string, meta mcp.Meta) (peerkit.Outcome, error) {
	if args == nil {
		args = map[string]any{} // a nil map would go out as null
	}
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	if token != "" {
		meta["progressToken"] = token
	}
	if len(meta) > 0 {
		params.Meta = meta
	}
	result, err := c.session.CallTool(ctx, params)
	if err != nil {
		return peerkit.Outcome{}, err
	}
	out := peerkit.Outcome{Structured: result.StructuredContent, IsError: result.IsError}
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
	return c.session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: mcp.LoggingLevel(level)})
}

func (c *connection) Close() { _ = c.session.Close() }
