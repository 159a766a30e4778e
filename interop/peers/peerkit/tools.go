package peerkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Caller is one tool call as the SDK under test lets the tool see it: the ways
// back to the client that called.
type Caller interface {
	Elicit(ctx context.Context, message string, schema map[string]any) (action, name string, err error)
	Sample(ctx context.Context, prompt string) (string, error)
	Roots(ctx context.Context) ([]string, error)
	// Progress does nothing when the call carries no progress token.
	Progress(ctx context.Context, done, total int) error
	Log(ctx context.Context, text string) error
	Touch(ctx context.Context, uri string) error
	AddTool(ctx context.Context, name string) error
}

// URLCaller is a Caller whose SDK can ask the user to visit a URL.
type URLCaller interface {
	ElicitURL(ctx context.Context, message, url string) (action string, err error)
}

// Features says what the SDK's server side can express.
type Features struct{ Elicitation, URL, Sampling, Roots, Structured, ResourceLink bool }

// ToolDef describes a tool to the SDK; Output is nil where there is no schema.
type ToolDef struct {
	Name          string
	Input, Output json.RawMessage
}

// Result is what a tool returns, before the SDK's own types.
type Result struct {
	Text         string
	Structured   json.RawMessage
	Links, Audio bool
	IsError      bool
}

// Wav is a silent sound of the smallest size.
const Wav = "RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00"

const structuredSchema = `{"type":"object","properties":{"answer":{"type":"number"},"label":{"type":"string"}},"required":["answer","label"]}`

// Defs lists the tools that a server with these features offers.
func Defs(f Features) []ToolDef {
	var defs []ToolDef
	for name, tool := range tools {
		if tool.needs != nil && !tool.needs(f) {
			continue
		}
		def := ToolDef{Name: name, Input: json.RawMessage(`{"type":"object","properties":{}}`)}
		if tool.input != "" {
			def.Input = json.RawMessage(tool.input)
		}
		if name == "structured" && f.Structured {
			def.Output = json.RawMessage(structuredSchema)
		}
		defs = append(defs, def)
	}
	return defs
}

// call is everything a tool works with.
type call struct {
	caller   Caller
	state    *State
	features Features
	args     map[string]json.RawMessage
}

type tool struct {
	needs func(Features) bool
	input string
	run   func(context.Context, call) (Result, error)
}

// Run executes a tool; an error becomes a result that shows it.
func Run(ctx context.Context, name string, args json.RawMessage, f Features, s *State, c Caller) Result {
	fields := map[string]json.RawMessage{}
	if len(args) > 0 {
		if err := json.Unmarshal(args, &fields); err != nil {
			return Result{Text: err.Error(), IsError: true}
		}
	}
	result, err := tools[name].run(ctx, call{c, s, f, fields})
	if err != nil {
		return Result{Text: fmt.Sprintf("%s failed: %v", name, err), IsError: true}
	}
	return result
}

var tools = map[string]tool{
	"echo":            {input: `{"type":"object","properties":{"value":{"type":"string"}}}`, run: echo},
	"bigint":          {input: `{"type":"object","properties":{"digits":{"type":"string"},"n":{"type":"integer"}}}`, run: bigint},
	"structured":      {run: structured},
	"links":           {run: links},
	"ask":             {needs: func(f Features) bool { return f.Elicitation }, run: ask("Who are you?")},
	"ask-decline":     {needs: func(f Features) bool { return f.Elicitation }, run: ask(Decline)},
	"ask-cancel":      {needs: func(f Features) bool { return f.Elicitation }, run: ask(Cancel)},
	"ask-url":         {needs: func(f Features) bool { return f.URL }, run: askURL("Please visit this")},
	"ask-url-decline": {needs: func(f Features) bool { return f.URL }, run: askURL(Decline)},
	"ask-url-cancel":  {needs: func(f Features) bool { return f.URL }, run: askURL(Cancel)},
	"sample":          {needs: func(f Features) bool { return f.Sampling }, run: sample},
	"roots":           {needs: func(f Features) bool { return f.Roots }, run: roots},
	"progress":        notifying("progressed", progress),
	"slow": {run: func(ctx context.Context, c call) (Result, error) {
		return Result{Text: c.state.slow(ctx)}, nil
	}},
	"wait-slow": {run: func(ctx context.Context, c call) (Result, error) {
		c.state.waitSlow(ctx)
		return Result{Text: "slow is running"}, nil
	}},
	"cancelled-count": {run: func(ctx context.Context, c call) (Result, error) {
		return Result{Text: fmt.Sprint(c.state.cancelledCount(ctx))}, nil
	}},
	"release": {run: func(_ context.Context, c call) (Result, error) {
		c.state.release()
		return Result{Text: "released"}, nil
	}},
	"log": notifying("logged", func(ctx context.Context, c call) error {
		return c.caller.Log(ctx, "logged by the peer")
	}),
	"touch": notifying("touched", func(ctx context.Context, c call) error {
		return c.caller.Touch(ctx, "demo://a")
	}),
	"add-tool": notifying("added", func(ctx context.Context, c call) error {
		return c.caller.AddTool(ctx, c.state.nextToolName())
	}),
}

func echo(_ context.Context, c call) (Result, error) {
	return Result{Text: "echo " + text(c.args["value"])}, nil
}

func bigint(_ context.Context, c call) (Result, error) {
	return Result{Text: fmt.Sprintf("digits=%s n=%s", text(c.args["digits"]), c.args["n"])}, nil
}

func structured(_ context.Context, c call) (Result, error) {
	answer := `{"answer":42,"label":"x"}`
	if !c.features.Structured {
		return Result{Text: answer}, nil
	}
	return Result{Structured: json.RawMessage(answer)}, nil
}

func links(_ context.Context, c call) (Result, error) {
	return Result{Text: "see these", Links: c.features.ResourceLink, Audio: true}, nil
}

// Decline and Cancel are what the user of every client answers so, asked for either mode.
const (
	Decline = "Decline this"
	Cancel  = "Cancel this"
)

// AnswerTo returns what the user does when asked that, and what they enter in a form.
func AnswerTo(message, mode string) (action string, content map[string]any) {
	switch {
	case message == Decline:
		return "decline", nil
	case message == Cancel:
		return "cancel", nil
	case mode == "url":
		return "accept", nil
	}
	return "accept", map[string]any{"name": "Ada"}
}

func ask(question string) func(context.Context, call) (Result, error) {
	schema := map[string]any{
		"type":       "object",
		"properties": map[string]any{"name": map[string]any{"type": "string"}},
		"required":   []string{"name"},
	}
	return func(ctx context.Context, c call) (Result, error) {
		action, name, err := c.caller.Elicit(ctx, question, schema)
		if action == "accept" {
			return Result{Text: "hello " + name}, err
		}
		return Result{Text: "no answer: " + action}, err
	}
}

func askURL(message string) func(context.Context, call) (Result, error) {
	return func(ctx context.Context, c call) (Result, error) {
		caller, ok := c.caller.(URLCaller)
		if !ok {
			return Result{}, errors.New("this server cannot ask for a visit")
		}
		action, err := caller.ElicitURL(ctx, message, "https://example.com/consent")
		return Result{Text: "url: " + action}, err
	}
}

func sample(ctx context.Context, c call) (Result, error) {
	answer, err := c.caller.Sample(ctx, "say hi")
	return Result{Text: "model: " + answer}, err
}

func roots(ctx context.Context, c call) (Result, error) {
	uris, err := c.caller.Roots(ctx)
	return Result{Text: "roots: " + strings.Join(uris, ",")}, err
}

// notifying makes a tool of something that sends a notification; the tool returns
// once the client says, with the tool release, that it has received it.
func notifying(done string, notify func(context.Context, call) error) tool {
	return tool{run: func(ctx context.Context, c call) (Result, error) {
		c.state.hold()
		if err := notify(ctx, c); err != nil {
			return Result{}, err
		}
		c.state.untilReleased(ctx)
		return Result{Text: done}, nil
	}}
}

func progress(ctx context.Context, c call) error {
	for i := range 3 {
		if err := c.caller.Progress(ctx, i+1, 3); err != nil {
			return err
		}
	}
	return nil
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}
