//lint:file-ignore SA1019 the suite still tests what the newest revision deprecates

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ask returns the client's answers. A stateless server has none before the client
// calls again with them: it gets nil and has to answer with the questions. An
// older one asks while the call waits, all questions at once.
func (s *server) ask(ctx context.Context, client *mcp.ServerSession, given mcp.InputResponseMap, questions mcp.InputRequestMap) (mcp.InputResponseMap, error) {
	if s.stateless {
		for name := range questions {
			if !usable(given[name]) {
				return nil, nil
			}
		}
		return given, nil
	}
	var asked sync.WaitGroup
	var mu sync.Mutex
	var failed error
	answers := mcp.InputResponseMap{}
	for name, question := range questions {
		asked.Go(func() {
			answer, err := askNow(ctx, client, question)
			mu.Lock()
			defer mu.Unlock()
			answers[name] = answer
			if err != nil {
				failed = err
			}
		})
	}
	asked.Wait()
	if failed != nil {
		failed = fmt.Errorf("asking: %v", failed) // its code says nothing about the call
	}
	return answers, failed
}

func askNow(ctx context.Context, client *mcp.ServerSession, question mcp.InputRequest) (mcp.InputResponse, error) {
	switch q := question.(type) {
	case *mcp.ElicitParams:
		return client.Elicit(ctx, q)
	case *mcp.CreateMessageParams:
		return client.CreateMessage(ctx, q)
	case *mcp.ListRootsParams:
		return client.ListRoots(ctx, q)
	}
	return nil, fmt.Errorf("no such question: %T", question)
}

func usable(answer mcp.InputResponse) bool {
	if form, ok := answer.(*mcp.ElicitResult); ok {
		return form.Action == "accept" && len(form.Content) > 0
	}
	return answer != nil
}

// form asks for one field.
func form(message, field, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []string{field},
	}}
}

// prompt asks for a completion.
func prompt(words string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{{Role: "user", Content: text(words)}}, MaxTokens: 50}
}

func field(answer mcp.InputResponse, name string) string {
	if form, ok := answer.(*mcp.ElicitResult); ok && form.Content[name] != nil {
		return fmt.Sprint(form.Content[name])
	}
	return ""
}

// inquiry is a tool that asks once and repeats what it heard.
type inquiry struct {
	questions mcp.InputRequestMap
	state     string // what a stateless server wants back with the answers
	checked   bool   // ask only what the client said it can answer
}

func (s *server) addInquiries() {
	name, hello, roots := form("What is your name?", "name", "string"), prompt("Say hello."), &mcp.ListRootsParams{}
	confirm := mcp.InputRequestMap{"confirm": form("Is that right?", "ok", "boolean")}
	all := mcp.InputRequestMap{"user_name": name, "greeting": hello, "client_roots": roots}
	for tool, q := range map[string]inquiry{
		"test_sampling":                              {questions: mcp.InputRequestMap{"answer": hello}},
		"test_elicitation":                           {questions: mcp.InputRequestMap{"answer": form("Who are you?", "username", "string")}},
		"test_elicitation_sep1034_defaults":          {questions: mcp.InputRequestMap{"answer": withDefaults()}},
		"test_elicitation_sep1330_enums":             {questions: mcp.InputRequestMap{"answer": withChoices()}},
		"test_streaming_elicitation":                 {questions: mcp.InputRequestMap{"answer": name}},
		"test_input_required_result_elicitation":     {questions: mcp.InputRequestMap{"user_name": name}},
		"test_input_required_result_sampling":        {questions: mcp.InputRequestMap{"capital_question": prompt("What is the capital of France?")}},
		"test_input_required_result_list_roots":      {questions: mcp.InputRequestMap{"client_roots": roots}},
		"test_input_required_result_request_state":   {questions: confirm, state: "first"},
		"test_input_required_result_tampered_state":  {questions: confirm, state: "sealed"},
		"test_input_required_result_multiple_inputs": {questions: all, state: "all"},
		"test_input_required_result_capabilities":    {questions: all, checked: true},
	} {
		s.addTool(tool, noArguments, s.inquire(q))
	}
	s.addTool("test_input_required_result_multi_round", noArguments, s.inquireTwice)
}

func (s *server) inquire(q inquiry) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if state := r.Params.RequestState; state != "" && state != q.state {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "this is no state of this tool"}
		}
		questions := q.questions
		if q.checked {
			questions = answerable(questions, r.ClientCapabilities())
		}
		given, err := s.ask(ctx, r.Session, r.Params.InputResponses, questions)
		if given == nil || err != nil {
			return &mcp.CallToolResult{InputRequests: questions, RequestState: q.state}, err
		}
		heard, err := json.Marshal(given)
		return result(text("state-ok, heard " + string(heard))), err
	}
}

func answerable(questions mcp.InputRequestMap, c *mcp.ClientCapabilities) mcp.InputRequestMap {
	left := mcp.InputRequestMap{}
	for name, question := range questions {
		switch question.(type) {
		case *mcp.ElicitParams:
			if c.Elicitation == nil {
				continue
			}
		case *mcp.CreateMessageParams:
			if c.Sampling == nil {
				continue
			}
		default:
			if c.RootsV2 == nil {
				continue
			}
		}
		left[name] = question
	}
	return left
}

// inquireTwice asks a second time once it knows the first answer, which a
// stateless server keeps in the state.
func (s *server) inquireTwice(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	const second = "second:"
	name, known := strings.CutPrefix(r.Params.RequestState, second)
	if !known {
		questions := mcp.InputRequestMap{"step1": form("What is your name?", "name", "string")}
		given, err := s.ask(ctx, r.Session, r.Params.InputResponses, questions)
		if given == nil || err != nil {
			return &mcp.CallToolResult{InputRequests: questions, RequestState: "first"}, err
		}
		name = field(given["step1"], "name")
	}
	questions := mcp.InputRequestMap{"step2": form("What is your favorite color?", "color", "string")}
	given, err := s.ask(ctx, r.Session, r.Params.InputResponses, questions)
	if given == nil || err != nil {
		return &mcp.CallToolResult{InputRequests: questions, RequestState: second + name}, err
	}
	return result(text(name + " likes " + field(given["step2"], "color"))), nil
}
