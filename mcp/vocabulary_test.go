package mcp_test

import (
	"slices"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func TestVersionIsDate(t *testing.T) {
	for _, v := range []mcp.Version{"2024-10-07", "2024-11-05", "2026-07-28", "1900-01-01"} {
		if !v.IsDate() {
			t.Errorf("%s is no date", v)
		}
	}
	for _, v := range []mcp.Version{"", "1.0", "latest", "not-a-version", "2025/06/18", "2025-6-18", "2025-06-1x", "2025-06-18 ", " 2025-06-18", "20250618--", "DRAFT-2025", "2025-06_18", "２０25-06-18"} {
		if v.IsDate() {
			t.Errorf("%q is a date", v)
		}
	}
}

func TestErrorObject(t *testing.T) {
	e := mcp.Errorf(mcp.CodeInvalidParams, "no %s", "<x>\u2028")
	if got := string(e.Object().Raw()); got != `{"code":-32602,"message":"no <x>\u2028"}` {
		t.Errorf("%s", got)
	}
	e.Data = mcp.Raw(`{"n":1.10}`)
	if got := string(e.Object().Raw()); got != `{"code":-32602,"message":"no <x>\u2028","data":{"n":1.10}}` {
		t.Errorf("%s", got)
	}
	if got := e.Error(); got != "no <x>\u2028 (-32602)" {
		t.Errorf("%s", got)
	}
	if got := (&mcp.Refusal{Status: 404, Body: []byte("secret")}).Error(); got != "HTTP status 404 Not Found" {
		t.Errorf("%s", got)
	}
}

// Capabilities are objects: `true` declares nothing (P4).
func TestPeerDeclares(t *testing.T) {
	p := mcp.Peer{Info: object(t, `{"name":"n","version":1}`), Capabilities: object(t, `{"roots":{},"sampling":{"tools":{},"context":true},"elicitation":true,"tasks":null,"logging":[]}`)}
	for _, path := range [][]string{{"roots"}, {"sampling"}, {"sampling", "tools"}} {
		if !p.Declares(path[0], path[1:]...) {
			t.Errorf("%v is not declared", path)
		}
	}
	for _, path := range [][]string{{"elicitation"}, {"tasks"}, {"logging"}, {"prompts"}, {"Roots"}, {"roots", "listChanged"}, {"sampling", "context"}, {"sampling", "tools", "x"}, {"elicitation", "form"}} {
		if p.Declares(path[0], path[1:]...) {
			t.Errorf("%v is declared", path)
		}
	}
	if name, version := p.Name(); name != "n" || version != "" {
		t.Errorf("%q %q", name, version)
	}
	var nobody mcp.Peer
	if name, version := nobody.Name(); name != "" || version != "" || nobody.Declares("roots") || nobody.Declares("sampling", "tools") {
		t.Error("nobody declares something")
	}
}

func TestSide(t *testing.T) {
	if mcp.Client.Other() != mcp.Server || mcp.Server.Other() != mcp.Client || mcp.Client.String() != "client" || mcp.Server.String() != "server" {
		t.Error("the sides are mixed up")
	}
}

func TestOptions(t *testing.T) {
	d := mcp.DefaultOptions()
	if err := d.Valid(); err != nil {
		t.Error(err)
	}
	if d.InjectText != mcp.InjectMissing || d.Fallback.Action != mcp.FallbackExplain || d.Strict || d.Fallback.Declare || d.RepairOutputSchema || d.Loss != mcp.LossPass {
		t.Errorf("%+v are not the defaults of decisions 1, 2, 4 and 16", d)
	}
	for name, change := range map[string]func(*mcp.Options){
		"text":     func(o *mcp.Options) { o.InjectText = "always" },
		"fallback": func(o *mcp.Options) { o.Fallback.Action = "accept" }, // rule 8: never
		"loss":     func(o *mcp.Options) { o.Loss = "" },
		"code":     func(o *mcp.Options) { o.NotFoundCode = "404" },
		"rule":     func(o *mcp.Options) { o.FallbackRules = []mcp.FallbackRule{{Tool: "*"}} },
		"pattern": func(o *mcp.Options) {
			o.FallbackRules = []mcp.FallbackRule{{Tool: "[", Fallback: mcp.Fallback{Action: mcp.FallbackError}}}
		},
		"no tool": func(o *mcp.Options) {
			o.FallbackRules = []mcp.FallbackRule{{Fallback: mcp.Fallback{Action: mcp.FallbackError}}}
		},
	} {
		o := mcp.DefaultOptions()
		if change(&o); o.Valid() == nil {
			t.Errorf("%s: %+v is valid", name, o)
		}
	}
}

// The first rule that fits a tool decides, and one that declares declares for
// all.
func TestFallbackRules(t *testing.T) {
	o := mcp.DefaultOptions()
	if o.Declares() {
		t.Error("declared by default")
	}
	o.FallbackRules = []mcp.FallbackRule{
		{Tool: "deploy.*", Fallback: mcp.Fallback{Action: mcp.FallbackDecline}},
		{Tool: "deploy.prod", Fallback: mcp.Fallback{Action: mcp.FallbackCancel}},
		{Tool: "a/*", Fallback: mcp.Fallback{Action: mcp.FallbackError, Declare: true}},
		{Tool: "*", Fallback: mcp.Fallback{Action: mcp.FallbackCancel}},
	}
	for tool, want := range map[string]mcp.FallbackAction{
		"deploy.prod": mcp.FallbackDecline, "a/b/c": mcp.FallbackError, "other": mcp.FallbackCancel, "": mcp.FallbackExplain,
	} {
		if got := o.FallbackFor(tool).Action; got != want {
			t.Errorf("%q is answered by %s, not %s", tool, got, want)
		}
	}
	if !o.Declares() || o.Valid() != nil {
		t.Errorf("declares %v, %v", o.Declares(), o.Valid())
	}
	mute := o.WithFallback(func(f *mcp.Fallback) { f.Declare = false })
	if mute.Declares() || !o.Declares() {
		t.Error("changed in the wrong place")
	}
}

// The names a configuration may use; the first is the default.
func TestPolicyNames(t *testing.T) {
	for _, tc := range []struct{ got, want []string }{
		{mcp.InjectTextNames(), []string{"missing", "unless-equivalent", "never"}},
		{mcp.FallbackNames(), []string{"explain", "cancel", "decline", "error"}},
		{mcp.LossNames(), []string{"pass", "refuse"}},
		{mcp.NotFoundCodeNames(), []string{"auto", "-32002", "-32602"}},
		{mcp.CredentialNames(), []string{"forward", "static", "none"}}, // decision 9
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("%q; want %q", tc.got, tc.want)
		}
	}
	mcp.LossNames()[0] = "changed"
	if got := mcp.LossNames()[0]; got != "pass" {
		t.Errorf("a caller changed the names: %s", got)
	}
}
