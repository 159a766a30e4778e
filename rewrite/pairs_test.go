package rewrite_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/internal/golden"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// cases returns every golden transcript.
func cases(t testing.TB) []*golden.Case {
	t.Helper()
	paths, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []*golden.Case
	for _, path := range paths {
		c, err := golden.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// TestEveryChangeHasCases: a change has a transcript with an older client and
// one with an older server, and every file of a revision names a change of it.
func TestEveryChangeHasCases(t *testing.T) {
	older := map[string]map[string]bool{}
	for _, r := range rewrite.Standard() {
		for _, c := range r.Changes {
			older[c.Name] = map[string]bool{}
			if c.Doc == "" || c.Source == "" || c.Class == "" {
				t.Errorf("%s: a change has a class, a doc and a source", c.Name)
			}
		}
	}
	for _, c := range cases(t) {
		revision, file := filepath.Base(filepath.Dir(c.Path)), strings.TrimSuffix(filepath.Base(c.Path), ".txtar")
		if revision == "core" {
			continue
		}
		name := changeNamed(revision, file)
		if name == "" {
			t.Errorf("%s names no change of %s", c.Path, revision)
			continue
		}
		switch {
		case c.Setup.Client.Version < c.Setup.Server.Version:
			older[name]["client"] = true
		case c.Setup.Client.Version > c.Setup.Server.Version:
			older[name]["server"] = true
		default:
			older[name]["none"] = true
		}
	}
	for name, facings := range older {
		if len(facings) == 0 {
			t.Errorf("%s has no case", name)
		}
		for _, facing := range []string{"client", "server"} {
			if !facings[facing] && !ofStateless(name) {
				t.Errorf("%s has no case with an older %s", name, facing)
			}
		}
	}
}

// ofStateless: what changed with sessions is one-sided: a change concerns
// older clients, older servers, or neither.
func ofStateless(change string) bool {
	for _, r := range rewrite.Standard() {
		for _, c := range r.Changes {
			if c.Name == change {
				return r.Traits.Opening != mcp.Initialize
			}
		}
	}
	return false
}

// changeNamed returns the change of a revision that a file is named for.
func changeNamed(revision, file string) string {
	found := ""
	for _, r := range rewrite.Standard() {
		if string(r.Version) != revision {
			continue
		}
		for _, c := range r.Changes {
			if (file == c.Name || strings.HasPrefix(file, c.Name+"-")) && len(c.Name) > len(found) {
				found = c.Name
			}
		}
	}
	return found
}

// messages returns the distinct messages of all transcripts with the way they
// travel.
type traveller struct {
	text, method string
	to           mcp.Side
}

func travellers(t *testing.T) []traveller {
	t.Helper()
	var all []traveller
	for _, c := range cases(t) {
		all = append(all, messagesOf(c)...)
	}
	slices.SortFunc(all, func(a, b traveller) int {
		return strings.Compare(a.text+a.method, b.text+b.method)
	})
	return slices.Compact(all)
}

func collect(all *[]traveller, methods map[string]string, step string) {
	head, text, _ := strings.Cut(step, " ")
	m, err := mcp.DecodeMessage([]byte(text))
	if err != nil {
		return
	}
	tr := traveller{text: text, method: m.Method, to: mcp.Server}
	leg := "client "
	if strings.HasPrefix(head, "server") {
		tr.to, leg = mcp.Client, "server "
	}
	if m.IsAnswer() {
		tr.method = methods[leg+m.ID.String()]
	}
	*all = append(*all, tr)
}

// note remembers what a request asks, so that its answer can be understood.
func note(methods map[string]string, line string) {
	head, text, _ := strings.Cut(line, " ")
	if m, err := mcp.DecodeMessage([]byte(text)); err == nil && m.Kind == mcp.Request {
		leg := "client "
		if strings.HasPrefix(head, ">server") {
			leg = "server "
		}
		methods[leg+m.ID.String()] = m.Method
	}
}

func (tr traveller) message(t *testing.T) *mcp.Message {
	t.Helper()
	m, err := mcp.DecodeMessage([]byte(tr.text))
	if err != nil {
		t.Fatal(err)
	}
	m.Method = tr.method
	if m.Method != mcp.Cancelled { // the door knows what a cancellation is about
		m.Call = 1
	}
	return m
}

func pipeline(client, server mcp.Version, o mcp.Options) *rewrite.Pipeline {
	everything := `{"elicitation":{},"sampling":{},"roots":{},"tools":{},"resources":{},"prompts":{},"logging":{},"completions":{}}`
	f := rewrite.Facing{
		Client:  mcp.Peer{Version: client, Capabilities: mcp.MustObject(everything)},
		Server:  mcp.Peer{Version: server, Capabilities: mcp.MustObject(everything)},
		Options: o,
	}
	key := mcp.CallKey(100)
	return rewrite.Standard().Pipeline(f, rewrite.Deps{Validate: schema.Validate}, func() mcp.CallKey { key++; return key })
}

// travel sends a message through a fresh pipeline, an answer after the
// request that it answers.
func travel(t *testing.T, p *rewrite.Pipeline, tr traveller, m *mcp.Message) rewrite.Outcome {
	t.Helper()
	if m.IsAnswer() {
		params := mcp.MustObject(`{"name":"t","message":"m","requestedSchema":{"type":"object","properties":{}}}`)
		p.Send(&mcp.Message{Kind: mcp.Request, Method: tr.method, ID: m.ID, Call: m.Call, Body: params}, tr.to.Other(), time.Time{})
	}
	return p.Send(m, tr.to, time.Time{})
}

// delivered returns what reaches the other end, if anything does.
func delivered(o rewrite.Outcome, to mcp.Side) *mcp.Message {
	for _, a := range o.Actions {
		if a.Verb == rewrite.Deliver && a.To == to {
			return a.Msg
		}
	}
	return nil
}

// eachPair runs a test for all pairs of versions, strict and not.
func eachPair(t *testing.T, test func(t *testing.T, client, server mcp.Version, o mcp.Options)) {
	versions := rewrite.Standard().Handshakes().Versions()
	for _, strict := range []bool{false, true} {
		o := mcp.DefaultOptions()
		o.Strict = strict
		for _, client := range versions {
			for _, server := range versions {
				test(t, client, server, o)
			}
		}
	}
}

// TestIdempotence: what has been translated once is not changed again.
func TestIdempotence(t *testing.T) {
	all := travellers(t)
	eachPair(t, func(t *testing.T, client, server mcp.Version, o mcp.Options) {
		for _, tr := range all {
			once := delivered(travel(t, pipeline(client, server, o), tr, tr.message(t)), tr.to)
			if once == nil {
				continue
			}
			want := once.Bytes()
			again, err := mcp.DecodeMessage(want)
			if err != nil {
				t.Fatalf("%s→%s %s: what comes out is no message: %v\n%s", client, server, tr.text, err, want)
			}
			again.Method, again.Call = tr.method, once.Call
			out := travel(t, pipeline(client, server, o), tr, again)
			twice := delivered(out, tr.to)
			if twice == nil || !bytes.Equal(twice.Bytes(), want) {
				t.Errorf("%s %s strict=%v to %s\nonce  %s\ntwice %v (%v)", client, server, o.Strict, tr.to, want, twice, out.Rewritten)
			}
		}
	})
}

// TestReported: a message that leaves other than it came was reported as
// rewritten, and one that was reported did change.
func TestReported(t *testing.T) {
	all := travellers(t)
	eachPair(t, func(t *testing.T, client, server mcp.Version, o mcp.Options) {
		for _, tr := range all {
			in := tr.message(t)
			before := string(in.Bytes())
			out := travel(t, pipeline(client, server, o), tr, in)
			m := delivered(out, tr.to)
			if m == nil {
				continue
			}
			changed := string(m.Bytes()) != before
			if changed != (len(out.Rewritten) > 0) && m.Kind == in.Kind {
				t.Errorf("%s %s strict=%v to %s: changed %v, reported %v\n%s\n%s", client, server, o.Strict, tr.to, changed, out.Rewritten, before, m.Bytes())
			}
		}
	})
}
