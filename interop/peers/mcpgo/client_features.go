package main

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
)

func (c *connection) Resources(ctx context.Context) ([]string, error) {
	result, err := c.client.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return nil, err
	}
	var uris []string
	for _, resource := range result.Resources {
		uris = append(uris, resource.URI)
	}
	return uris, nil
}

func (c *connection) Templates(ctx context.Context) ([]string, error) {
	result, err := c.client.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
	if err != nil {
		return nil, err
	}
	var templates []string
	for _, template := range result.ResourceTemplates {
		templates = append(templates, template.URITemplate.Raw())
	}
	return templates, nil
}

func (c *connection) Read(ctx context.Context, uri string) (string, error) {
	request := mcp.ReadResourceRequest{}
	request.Params.URI = uri
	result, err := c.client.ReadResource(ctx, request)
	if err != nil {
		return "", err
	}
	for _, contents := range result.Contents {
		if text, ok := contents.(mcp.TextResourceContents); ok {
			return text.Text, nil
		}
	}
	return "", errors.New("no text contents")
}

func (c *connection) Subscribe(ctx context.Context, uri string) error {
	request := mcp.SubscribeRequest{}
	request.Params.URI = uri
	return c.client.Subscribe(ctx, request)
}

func (c *connection) Unsubscribe(ctx context.Context, uri string) error {
	request := mcp.UnsubscribeRequest{}
	request.Params.URI = uri
	return c.client.Unsubscribe(ctx, request)
}

func (c *connection) Prompts(ctx context.Context) ([]string, error) {
	result, err := c.client.ListPrompts(ctx, mcp.ListPromptsRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, prompt := range result.Prompts {
		names = append(names, prompt.Name)
	}
	return names, nil
}

func (c *connection) Prompt(ctx context.Context, name string, args map[string]string) (string, error) {
	request := mcp.GetPromptRequest{}
	request.Params.Name, request.Params.Arguments = name, args
	result, err := c.client.GetPrompt(ctx, request)
	if err != nil {
		return "", err
	}
	for _, message := range result.Messages {
		if text, ok := message.Content.(mcp.TextContent); ok {
			return text.Text, nil
		}
	}
	return "", errors.New("no text in the prompt")
}

func (c *connection) Complete(ctx context.Context, prompt, argument, value string) ([]string, error) {
	request := mcp.CompleteRequest{}
	request.Params.Ref = mcp.PromptReference{Type: "ref/prompt", Name: prompt}
	request.Params.Argument.Name, request.Params.Argument.Value = argument, value
	result, err := c.client.Complete(ctx, request)
	if err != nil {
		return nil, err
	}
	return result.Completion.Values, nil
}
