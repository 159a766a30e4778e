package rewrite_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// optioned returns a pipeline between two peers with one option changed.
func optioned(change func(*mcp.Options)) *rewrite.Pipeline {
	o := mcp.DefaultOptions()
	change(&o)
	return pipeline("2025-06-18", "2025-06-18", o)
}

// page is the answer of a server to a list request of the tools.
func page(request *mcp.Message, names []string, cursor string) *mcp.Message {
	list := mcp.NewArray()
	for _, name := range names {
		tool := mcp.MustObject(`{"inputSchema":{"type":"object"}}`)
		tool.Set("name", mcp.Quote(name))
		list.AddObject(tool)
	}
	body := mcp.NewObject()
	body.SetArray("tools", list)
	if cursor != "" {
		body.Set("nextCursor", mcp.Quote(cursor))
	}
	return request.Answer(body)
}

func namesOf(m *mcp.Message) []string {
	var out []string
	list := m.Body.Array("tools")
	for i := range list.Len() {
		out = append(out, list.Object(i).Text("name"))
	}
	return out
}

func toolRequest(key mcp.CallKey, name string) *mcp.Message {
	m := mcp.NewRequest(mcp.ToolsCall, mcp.NewObject())
	m.Body.Set("name", mcp.Quote(name))
	m.Call = key
	return m
}

var takenByAll = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// TestSafeNames: whatever names a server has, each is shown as one that all
// clients take, no two the same, safe ones as they are, in any order of the
// list alike, and leads back to its tool.
func TestSafeNames(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b", "_", ".", "/", " ", "-", "é", "日", "\x00", "_2e7336dc", "_356d9269", strings.Repeat("x", 62)}
	for round := range 300 {
		unique := map[string]bool{"a.b": true, "a_b": true}
		for range random.IntN(40) {
			name := ""
			for range 1 + random.IntN(4) {
				name += parts[random.IntN(len(parts))]
			}
			unique[name] = true
		}
		var names []string
		for name := range unique {
			names = append(names, name)
		}
		slices.Sort(names)
		shown := map[string]string{}
		for range 2 {
			random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			p := optioned(func(o *mcp.Options) { o.SafeNames = true })
			request := &mcp.Message{Kind: mcp.Request, Method: mcp.ToolsList, Call: 1}
			p.Send(request, mcp.Server, time.Time{})
			got := namesOf(delivered(p.Send(page(request, names, ""), mcp.Client, time.Time{}), mcp.Client))
			check(t, p, names, got, shown)
		}
		if t.Failed() {
			t.Fatalf("round %d: %q", round, names)
		}
	}
}

func check(t *testing.T, p *rewrite.Pipeline, names, got []string, shown map[string]string) {
	t.Helper()
	seen := map[string]bool{}
	for i, safe := range got {
		if !takenByAll.MatchString(safe) || seen[safe] || takenByAll.MatchString(names[i]) && safe != names[i] {
			t.Errorf("%q is shown as %q", names[i], safe)
		}
		seen[safe] = true
		if before, known := shown[names[i]]; known && before != safe {
			t.Errorf("%q is shown as %q, then as %q", names[i], before, safe)
		}
		shown[names[i]] = safe
		call := delivered(p.Send(toolRequest(mcp.CallKey(i+10), safe), mcp.Server, time.Time{}), mcp.Server)
		if call == nil || call.Body.Text("name") != names[i] {
			t.Errorf("%q, shown for %q, leads to %v", safe, names[i], call)
		}
	}
}

// endless answers every page that the bridge asks for until it stops asking,
// and returns what the client gets.
func endless(t *testing.T, p *rewrite.Pipeline, first *mcp.Message, answer func(n int, m *mcp.Message) *mcp.Message) (got *mcp.Message, pages int) {
	t.Helper()
	o := p.Send(first, mcp.Server, time.Time{})
	for pages < 100_000 {
		if m := delivered(o, mcp.Client); m != nil {
			return m, pages
		}
		ask := delivered(o, mcp.Server)
		if ask == nil || ask.Method != mcp.ToolsList {
			return ask, pages
		}
		pages++
		o = p.Send(answer(pages, ask), mcp.Client, time.Time{})
	}
	t.Fatal("the bridge asks for ever")
	return nil, 0
}

// TestEndlessLists: a list without end, or too large, is an error in bounded
// time; a call whose name can so not be looked up goes out as it is.
func TestEndlessLists(t *testing.T) {
	list := func() *mcp.Message { return &mcp.Message{Kind: mcp.Request, Method: mcp.ToolsList, Call: 1} }
	never := func(n int, m *mcp.Message) *mcp.Message {
		return page(m, []string{fmt.Sprint("t", n)}, fmt.Sprint(n))
	}
	large := func(n int, m *mcp.Message) *mcp.Message {
		return page(m, []string{fmt.Sprint("t", n) + strings.Repeat("x", 1<<20)}, fmt.Sprint(n))
	}
	flat := func(o *mcp.Options) { o.FlattenLists = true }
	for name, tc := range map[string]struct {
		answer func(int, *mcp.Message) *mcp.Message
		most   int
	}{"without end": {never, 501}, "large": {large, 18}} {
		got, pages := endless(t, optioned(flat), list(), tc.answer)
		if got.Kind != mcp.Failure || got.Call != 1 || got.Code() != mcp.CodeInternal || pages > tc.most {
			t.Errorf("%s: after %d pages %.200s", name, pages, got.Bytes())
		}
	}
	safe := func(o *mcp.Options) { o.SafeNames = true }
	got, pages := endless(t, optioned(safe), list(), never)
	if got.Kind != mcp.Result || !slices.Equal(namesOf(got), []string{"t1"}) || pages > 501 {
		t.Errorf("after %d pages %.200s", pages, got.Bytes())
	}
	got, pages = endless(t, optioned(safe), toolRequest(1, "t_1"), never)
	if got.Method != mcp.ToolsCall || got.Body.Text("name") != "t_1" || pages > 501 {
		t.Errorf("after %d pages %.200s", pages, got.Bytes())
	}
	again := func(_ int, m *mcp.Message) *mcp.Message { return page(m, []string{"t.1"}, "same") }
	got, pages = endless(t, optioned(safe), toolRequest(1, "t_1"), again)
	if got.Body.Text("name") != "t.1" || pages > 2 {
		t.Errorf("a cursor that repeats: after %d pages %.200s", pages, got.Bytes())
	}
}
