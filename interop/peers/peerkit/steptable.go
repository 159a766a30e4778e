package peerkit

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

var steps = map[string]step{
	"ping": func(v *visit, ctx context.Context) (verdict, error) {
		return verdict{ok: true}, v.client.Ping(ctx)
	},
	"tools/list": func(v *visit, ctx context.Context) (verdict, error) {
		names, err := v.client.Tools(ctx)
		slices.Sort(names)
		return verdict{slices.Contains(names, "echo") && slices.Contains(names, "structured"), names}, err
	},
	"structured": func(v *visit, ctx context.Context) (verdict, error) {
		got, err := v.call(ctx, "structured", nil, "")
		viaText := strings.Contains(got.Text, "42")
		fields, _ := got.Structured.(map[string]any)
		viaStructure := fmt.Sprint(fields["answer"]) == "42"
		return verdict{viaText || viaStructure, map[string]bool{"viaText": viaText, "viaStructure": viaStructure}}, err
	},
	"bigint": stepBigint,
	"ask": func(v *visit, ctx context.Context) (verdict, error) {
		return v.reverse(ctx, "ask", v.declared.Elicitation, "hello Ada")
	},
	"ask-decline": func(v *visit, ctx context.Context) (verdict, error) {
		return v.reverse(ctx, "ask-decline", v.declared.Elicitation, "no answer: decline")
	},
	"ask-cancel": func(v *visit, ctx context.Context) (verdict, error) {
		return v.reverse(ctx, "ask-cancel", v.declared.Elicitation, "no answer: cancel")
	},
	"ask-url": func(v *visit, ctx context.Context) (verdict, error) {
		return v.reverse(ctx, "ask-url", v.declared.URL, "url: accept")
	},
	"ask-url-decline": func(v *visit, ctx context.Context) (verdict, error) {
		return v.reverse(ctx, "ask-url-decline", v.declared.URL, "url: decline")
	},
	"ask-url-cancel": func(v *visit, ctx context.Context) (verdict, error) {
		return v.reverse(ctx, "ask-url-cancel", v.declared.URL, "url: cancel")
	},
	"ask-raw": func(v *visit, ctx context.Context) (verdict, error) {
		return v.reverse(ctx, "ask-raw", v.declared.Elicitation, "hello Ada")
	},
	"sample": func(v *visit, ctx context.Context) (verdict, error) {
		return v.reverse(ctx, "sample", v.declared.Sampling, "model: hi")
	},
	"roots": func(v *visit, ctx context.Context) (verdict, error) {
		return v.reverse(ctx, "roots", v.declared.Roots, "roots: file:///srv/one,file:///srv/two")
	},
	"progress":            stepProgress,
	"cancel":              stepCancel,
	"links":               stepLinks,
	"log":                 stepLog,
	"resources/list":      listing(Client.Resources, "demo://a"),
	"resources/templates": listing(Client.Templates, "demo://item/{id}"),
	"resources/read":      stepRead,
	"subscribe":           stepSubscribe,
	"list-changed":        stepListChanged,
	"prompts/list":        listing(Client.Prompts, "greet"),
	"prompts/get": func(v *visit, ctx context.Context) (verdict, error) {
		text, err := v.client.Prompt(ctx, "greet", map[string]string{"name": "Ada"})
		return verdict{text == "Hello, Ada", text}, err
	},
	"completion": func(v *visit, ctx context.Context) (verdict, error) {
		values, err := v.client.Complete(ctx, "greet", "name", "A")
		return verdict{slices.Equal(values, []string{"Ada", "Alan"}), values}, err
	},
	"unknown-method": func(v *visit, ctx context.Context) (verdict, error) {
		code, err := v.client.Raw(ctx, "demo/unknown")
		return verdict{code == -32601, code}, err
	},
	"unknown-tool": stepUnknownTool,
	"parallel":     stepParallel,
}

func listing(list func(Client, context.Context) ([]string, error), want string) step {
	return func(v *visit, ctx context.Context) (verdict, error) {
		names, err := list(v.client, ctx)
		return verdict{slices.Contains(names, want), names}, err
	}
}

func stepProgress(v *visit, ctx context.Context) (verdict, error) {
	const token = "token-of-progress"
	notes, err := v.expect(ctx, "progress", token, 3, func(n Notification) bool {
		return n.Method == "notifications/progress" && n.Params["progressToken"] == token
	})
	var seen []string
	for _, n := range notes {
		seen = append(seen, fmt.Sprintf("%v/%v", n.Params["progress"], n.Params["total"]))
	}
	slices.Sort(seen) // the SDKs run notification handlers concurrently
	return verdict{slices.Equal(seen, []string{"1/3", "2/3", "3/3"}), seen}, err
}

func stepLinks(v *visit, ctx context.Context) (verdict, error) {
	got, err := v.call(ctx, "links", nil, "")
	return verdict{strings.Contains(got.Text, "see these"), got.Blocks}, err
}

func stepLog(v *visit, ctx context.Context) (verdict, error) {
	if err := v.client.SetLevel(ctx, "info"); err != nil {
		return verdict{}, err
	}
	_, err := v.expect(ctx, "log", "", 1, func(n Notification) bool {
		return n.Method == "notifications/message" && n.Params["data"] == "logged by the peer"
	})
	return verdict{ok: true}, err
}

func stepRead(v *visit, ctx context.Context) (verdict, error) {
	a, err := v.client.Read(ctx, "demo://a")
	if err != nil {
		return verdict{}, err
	}
	item, err := v.client.Read(ctx, "demo://item/7")
	return verdict{a == "text of a" && item == "item 7", []string{a, item}}, err
}

func stepSubscribe(v *visit, ctx context.Context) (verdict, error) {
	if err := v.client.Subscribe(ctx, "demo://a"); err != nil {
		return verdict{}, err
	}
	_, err := v.expect(ctx, "touch", "", 1, func(n Notification) bool {
		return n.Method == "notifications/resources/updated" && n.Params["uri"] == "demo://a"
	})
	if err != nil {
		return verdict{}, err
	}
	return verdict{ok: true}, v.client.Unsubscribe(ctx, "demo://a")
}

func stepListChanged(v *visit, ctx context.Context) (verdict, error) {
	_, err := v.expect(ctx, "add-tool", "", 1, func(n Notification) bool {
		return n.Method == "notifications/tools/list_changed"
	})
	if err != nil {
		return verdict{}, err
	}
	names, err := v.client.Tools(ctx)
	added := slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "added-") })
	return verdict{added, names}, err
}
