package interop

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fallback is one policy of --elicitation-fallback and what a server is answered
// under it: an action, or "error".
type fallback struct {
	flag     string
	declares bool
	action   string
	explains bool
}

var fallbacks = []fallback{
	{"explain", false, "cancel", true},
	{"cancel", false, "cancel", false},
	{"decline", false, "decline", false},
	{"error", false, "error", false},
	{"declare", true, "cancel", true},
	{"declare:explain", true, "cancel", true},
	{"declare:cancel", true, "cancel", false},
	{"declare:decline", true, "decline", false},
	{"declare:error", true, "error", false},
}

// note begins the block that explains a question nobody was asked.
const note = "The server wanted to ask the user"

// TestFallback lets a client that cannot be asked call tools that ask, under each
// policy.
func TestFallback(t *testing.T) {
	binary, err := builtBridge()
	if err != nil {
		t.Fatalf("the bridge does not build: %v", err)
	}
	var sdks []peer
	for _, p := range allPeers(binDir) {
		if p.name == "ts-1.32.2" || p.name == "go-sdk-1.8.0" {
			sdks = append(sdks, p)
		}
	}
	h := newHarness(t, sdks)
	asker := startUnchecked(t)
	for _, f := range fallbacks {
		t.Run(f.flag, func(t *testing.T) {
			t.Parallel()
			for _, s := range sdks {
				url := h.fallbackBridge(t, binary, f, s.name, h.direct[s.name])
				checkSDK(t, f, s.name, h.direct[s.name], url)
				if strings.HasPrefix(s.name, "ts-") {
					checkRawAsk(t, f, url)
				}
			}
			url := h.fallbackBridge(t, binary, f, "unchecked", asker.url)
			for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
				checkUnchecked(t, f, asker, url, version)
			}
		})
	}
}

// fallbackBridge runs until the policy's test is over and must live that long.
func (h *harness) fallbackBridge(t *testing.T, binary string, f fallback, name, upstream string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	log := filepath.Join(h.dir, "fallback-"+f.flag+"-"+name+".bridge")
	p, url, err := startBridge(ctx, binary, upstream, log, "--elicitation-fallback", f.flag)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		select {
		case <-p.exited:
			t.Errorf("the bridge before %s ended:\n%s", name, p.tail())
		default:
		}
		p.stop()
	})
	return url
}

// checkSDK: an SDK's server refuses by itself without the capability, and its
// words reach the client; with it, the server gets the policy's answer.
func checkSDK(t *testing.T, f fallback, server, direct, url string) {
	t.Helper()
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		got := callTool(t, url, version, "fallback "+f.flag, "ask")
		switch {
		case !f.declares:
			want := callTool(t, direct, version, "direct", "ask")
			if !want.IsError || !got.IsError || got.text() != want.text() {
				t.Errorf("%s, %s: got %+v, want the server's own refusal %+v", server, version, got, want)
			}
		case f.action == "error":
			if !got.IsError || !strings.Contains(got.text(), "did not declare the capability elicitation") {
				t.Errorf("%s, %s: got %+v, want a tool error that says what the server was told", server, version, got)
			}
		default:
			checkAnswered(t, f, server+", "+version, got)
		}
	}
}

func checkAnswered(t *testing.T, f fallback, where string, got toolResult) {
	t.Helper()
	if len(got.Content) == 0 || got.IsError || got.Content[0].Text != "no answer: "+f.action {
		t.Errorf("%s: got %+v, want %q answered", where, got, f.action)
	}
	checkNote(t, f, where, got, "Who are you?", "name (string, required)")
}

// checkNote looks for the explanation, which has a block of its own at the end.
func checkNote(t *testing.T, f fallback, where string, got toolResult, parts ...string) {
	t.Helper()
	last, blocks := "", len(got.Content)
	if blocks > 0 {
		last = got.Content[blocks-1].Text
	}
	if !f.explains {
		if blocks != 1 || strings.Contains(last, note) {
			t.Errorf("%s: got %+v, want nothing added", where, got)
		}
		return
	}
	if blocks != 2 || !strings.HasPrefix(last, note) {
		t.Errorf("%s: got %+v, want one block added that explains", where, got)
	}
	for _, part := range parts {
		if !strings.Contains(last, part) {
			t.Errorf("%s: the explanation lacks %q: %s", where, part, last)
		}
	}
}

// checkRawAsk has the TypeScript server ask past its own check.
func checkRawAsk(t *testing.T, f fallback, url string) {
	t.Helper()
	got := callTool(t, url, "2025-06-18", "fallback "+f.flag, "ask-raw")
	if f.action == "error" {
		if !got.IsError || !strings.Contains(got.text(), "-32601") {
			t.Errorf("ask-raw: got %+v, want a tool error with -32601", got)
		}
		return
	}
	checkAnswered(t, f, "ask-raw", got)
}

// checkUnchecked looks at both ends of a question that nobody allowed.
func checkUnchecked(t *testing.T, f fallback, asker *unchecked, url, version string) {
	t.Helper()
	name := "fallback-" + f.flag + "-" + version
	got := callTool(t, url, version, name, "paint")
	declared, calls := asker.saw(name)
	// A server of a revision without elicitation is not told of it.
	declares := f.declares && version >= "2025-06-18"
	if declared != declares || calls != 1 {
		t.Errorf("%s: the server saw elicitation declared: %t, calls: %d; want %t and 1", name, declared, calls, declares)
	}
	var answer struct {
		ID     string
		Result *struct{ Action string }
		Error  *struct{ Code int }
	}
	if err := json.Unmarshal([]byte(got.Content[0].Text), &answer); err != nil || answer.ID != "question-1" {
		t.Fatalf("%s: the server got no answer to its question: %+v, %v", name, got, err)
	}
	if code := refusal(f, version); code != 0 {
		if answer.Error == nil || answer.Error.Code != code {
			t.Errorf("%s: the server got %s, want error %d", name, got.Content[0].Text, code)
		}
	} else if answer.Result == nil || answer.Result.Action != f.action {
		t.Errorf("%s: the server got %s, want the action %s", name, got.Content[0].Text, f.action)
	}
	checkNote(t, f, name, got, "Which colour?", "colour (string, required)")
}

// refusal is the error code that the server is to get, 0 for an action. Toward
// 2025-11-25 what was not declared must be refused.
func refusal(f fallback, version string) int {
	switch {
	case version == "2025-11-25" && (f.action == "error" || !f.declares):
		return -32602
	case f.action == "error":
		return -32601
	}
	return 0
}

// callTool opens a session, calls the tool once and closes the session. Nothing
// but the answer may reach this client, in a time that is no hang.
func callTool(t *testing.T, url, version, name, tool string) toolResult {
	t.Helper()
	c := &rawClient{t: t, url: url}
	opened := c.post(initialize("1", version, name))
	c.session, c.version = opened.header.Get("Mcp-Session-Id"), version
	if _, err := opened.answer("1"); err != nil {
		t.Fatal(err)
	}
	c.post(initialized)
	began := time.Now()
	reply := c.post(call("2", tool, "{}"))
	if took := time.Since(began); took > rawLimit/2 {
		t.Errorf("%s: the call of %s took %s", name, tool, took)
	}
	for _, m := range reply.messages {
		if m.Method == "elicitation/create" {
			t.Errorf("%s: the client was asked: %s", name, m.Params)
		}
	}
	answer, err := reply.answer("2")
	if err != nil {
		t.Fatal(err)
	}
	result, err := answer.tool()
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Content) == 0 {
		t.Fatalf("%s: the result has no content: %s", name, answer.Result)
	}
	c.send("DELETE", "", "Accept", "")
	return result
}
