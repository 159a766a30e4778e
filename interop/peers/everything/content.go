package main

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const watched = "test://watched-resource"

func plain(uri, text string) *mcp.ResourceContents {
	return &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: text}
}

func (s *server) addResources() {
	s.addResource("static-text", "test://static-text", func(uri string) *mcp.ResourceContents {
		return plain(uri, "always the same")
	})
	s.addResource("static-binary", "test://static-binary", func(uri string) *mcp.ResourceContents {
		return &mcp.ResourceContents{URI: uri, MIMEType: "image/png", Blob: picture()}
	})
	s.addResource("watched-resource", watched, func(uri string) *mcp.ResourceContents {
		return plain(uri, "said to change all the time")
	})
	template := &mcp.ResourceTemplate{Name: "template", MIMEType: "application/json", URITemplate: "test://template/{id}/data"}
	s.AddResourceTemplate(template, reading(func(uri string) *mcp.ResourceContents {
		var id string
		_, _ = fmt.Sscanf(uri, "test://template/%3s", &id)
		return &mcp.ResourceContents{URI: uri, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q}`, id)}
	}))
}

func (s *server) addResource(name, uri string, contents func(uri string) *mcp.ResourceContents) {
	s.AddResource(&mcp.Resource{Name: name, URI: uri}, reading(contents))
}

func reading(contents func(uri string) *mcp.ResourceContents) mcp.ResourceHandler {
	return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents(r.Params.URI)}}, nil
	}
}

func (s *server) addPrompts() {
	s.addPrompt("test_simple_prompt", func(map[string]string) mcp.Content { return text("say something") })
	s.addPrompt("test_prompt_with_arguments", func(given map[string]string) mcp.Content {
		return text(fmt.Sprintf("first %q, second %q", given["arg1"], given["arg2"]))
	}, "arg1", "arg2")
	s.addPrompt("test_prompt_with_embedded_resource", func(given map[string]string) mcp.Content {
		return &mcp.EmbeddedResource{Resource: plain(given["resourceUri"], "embedded")}
	}, "resourceUri")
	s.addPrompt("test_prompt_with_image", func(map[string]string) mcp.Content { return image1() })
	s.AddPrompt(newPrompt("test_input_required_result_prompt"), s.askingPrompt)
}

func newPrompt(name string) *mcp.Prompt {
	return &mcp.Prompt{Name: name, Description: purpose}
}

func (s *server) addPrompt(name string, content func(map[string]string) mcp.Content, arguments ...string) {
	prompt := newPrompt(name)
	for _, argument := range arguments {
		prompt.Arguments = append(prompt.Arguments, &mcp.PromptArgument{Name: argument, Required: true})
	}
	s.AddPrompt(prompt, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return oneMessage(content(r.Params.Arguments)), nil
	})
}

func oneMessage(content mcp.Content) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: content}}}
}

func (s *server) askingPrompt(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	questions := mcp.InputRequestMap{"user_context": form("What is it about?", "context", "string")}
	given, err := s.ask(ctx, r.Session, r.Params.InputResponses, questions)
	if given == nil || err != nil {
		return &mcp.GetPromptResult{InputRequests: questions}, err
	}
	return oneMessage(text("It is about " + field(given["user_context"], "context"))), nil
}
