package main

import (
	"context"
	"errors"

	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func (c *connection) Resources(ctx context.Context) ([]string, error) {
	var uris []string
	for resource, err := range c.session.Resources(ctx, nil) {
		if err != nil {
			return uris, err
		}
		uris = append(uris, resource.URI)
	}
	return uris, nil
}

func (c *connection) Templates(ctx context.Context) ([]string, error) {
	var templates []string
	for template, err := range c.session.ResourceTemplates(ctx, nil) {
		if err != nil {
			return templates, err
		}
		templates = append(templates, template.URITemplate)
	}
	return templates, nil
}

func (c *connection) Read(ctx context.Context, uri string) (string, error) {
	result, err := c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	if len(result.Contents) == 0 {
		return "", errors.New("no contents")
	}
	return result.Contents[0].Text, nil
}

func (c *connection) Subscribe(ctx context.Context, uri string) error {
	return c.session.Subscribe(ctx, &mcp.SubscribeParams{URI: uri})
}

func (c *connection) Unsubscribe(ctx context.Context, uri string) error {
	return c.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri})
}

func (c *connection) Prompts(ctx context.Context) ([]string, error) {
	var names []string
	for prompt, err := range c.session.Prompts(ctx, nil) {
		if err != nil {
			return names, err
		}
		names = append(names, prompt.Name)
	}
	return names, nil
}

func (c *connection) Prompt(ctx context.Context, name string, args map[string]string) (string, error) {
	result, err := c.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	for _, message := range result.Messages {
		if text, ok := message.Content.(*mcp.TextContent); ok {
			return text.Text, nil
		}
	}
	return "", errors.New("no text in the prompt")
}

func (c *connection) Complete(ctx context.Context, prompt, argument, value string) ([]string, error) {
	result, err := c.session.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: prompt},
		Argument: mcp.CompleteParamsArgument{Name: argument, Value: value},
	})
	if err != nil {
		return nil, err
	}
	return result.Completion.Values, nil
}

// Raw is impossible: the SDK sends only the methods it has types for.
func (c *connection) Raw(context.Context, string) (int, error) { return 0, peerkit.ErrUnsupported }
