package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

func TestWrap(t *testing.T) {
	for name, tc := range map[string]struct {
		text        string
		width, hang int
		want        []string
	}{
		"short":     {"one two", 20, 2, []string{"one two"}},
		"words":     {"one two three", 8, 0, []string{"one two", "three"}},
		"hang":      {"aaaa bbbb cccc", 10, 2, []string{"aaaa bbbb", "  cccc"}},
		"long word": {"ab 0123456789012", 10, 2, []string{"ab", "  01234567", "  89012"}},
		"lines":     {"one\ntwo", 20, 2, []string{"one", "  two"}},
		"glue":      {"aaaaaa b" + glue + "1", 8, 0, []string{"aaaaaa", "b 1"}},
		"runes":     {"→→→→ ✓✓✓", 8, 0, []string{"→→→→ ✓✓✓"}},
		"nothing":   {"", 8, 0, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wrap(tc.text, tc.width, tc.hang); !slices.Equal(got, tc.want) {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestPageFitsTheScreen(t *testing.T) {
	e := demoExhibit{
		direct:  demoSide{false, []string{strings.Repeat("x", 300), remark + strings.Repeat("word ", 60)}},
		bridged: demoSide{true, []string{"text " + strings.Repeat("✓", 100)}},
		why:     strings.Repeat("why ", 60), unmet: []string{strings.Repeat("y", 200)},
	}
	for _, width := range []int{minWidth, 99, twoColumns, 101, maxWidth} {
		p := newDemoPage(demoScreen{width: width})
		p.columnHeads()
		p.exhibit("1  "+strings.Repeat("title ", 40), e)
		for line := range strings.Lines(p.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d characters on a screen of %d: %s", n, width, line)
			}
		}
		if got := strings.Contains(p.String(), divider); got != (width >= twoColumns) {
			t.Errorf("two columns at %d: %v", width, got)
		}
	}
}

func TestColourOnlyWhereItIsWanted(t *testing.T) {
	for _, colour := range []bool{true, false} {
		p := newDemoPage(demoScreen{width: 80, colour: colour})
		p.exhibit("title", demoExhibit{direct: demoSide{false, []string{"x"}}, bridged: demoSide{true, []string{"y"}}})
		if got := strings.Contains(p.String(), "\x1b["); got != colour {
			t.Errorf("colour %v:\n%q", colour, p.String())
		}
	}
}

func TestScreen(t *testing.T) {
	for columns, want := range map[string]int{"": 80, "132": 132, "x": 80, "-1": 80} {
		if got := screen(newSurroundings(map[string]string{"COLUMNS": columns}).process()); got.width != want || got.colour {
			t.Errorf("COLUMNS=%s: %+v", columns, got)
		}
	}
}

func TestCounts(t *testing.T) {
	c := parseCounts(`# HELP mcpbridge_rewrites_total Messages altered.
mcpbridge_rewrites_total{change="b"} 2
mcpbridge_rewrites_total{change="a"} 1
mcpbridge_batch_size_messages_sum 4
mcpbridge_fallbacks_total{action="explain",feature="elicitation"} 1
go_goroutines 9
`)
	for _, tc := range []struct{ got, want string }{
		{c.list("rewrites_total", labels("change")), "a" + glue + "1, b" + glue + "2"},
		{c.list("batch_size_messages_sum", labels()), "4"},
		{c.list("fallbacks_total", labels("feature", "action")), "elicitation" + glue + "explain" + glue + "1"},
		{c.list("losses_total", labels("change")), "none"},
		{c.agreed("client"), "no handshake"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
	if len(showCounts(c).unmet) == 0 {
		t.Error("a page without handshakes passes")
	}
}

// An answer that comes twice is no answer.
func TestAnswersAreCounted(t *testing.T) {
	ask := newDemoClient("").request(mcp.Ping, nil)
	r := &demoReply{answers: []*mcp.Message{ask.Answer(nil)}}
	if r.answerTo(ask) == nil {
		t.Error("the answer was not found")
	}
	r.answers = append(r.answers, ask.Answer(nil))
	if r.answerTo(ask) != nil {
		t.Error("two answers were taken for one")
	}
}

// silence is a conversation in which nothing was answered.
func silence() *demoTalk {
	hello := &demoReply{answers: []*mcp.Message{{Kind: mcp.Result}}}
	return &demoTalk{hello: hello, batch: &demoReply{}}
}

func TestExhibitsSurviveSilence(t *testing.T) {
	for _, e := range demoExhibits(silence(), silence()) {
		if len(e.unmet) == 0 {
			t.Errorf("%s: nothing is missed", e.title)
		}
	}
}

// What the demo names must be on the ladder.
func TestDemoNamesChangesThatExist(t *testing.T) {
	var why strings.Builder
	for _, e := range demoExhibits(silence(), silence()) {
		why.WriteString(e.why + "\n")
	}
	all := rewrite.Standard().Changes()
	for _, name := range []string{"inject-text", "answer-undeclared", "degrade-resource-link", "trim-implementation", "fold-title", "drop-icons", "drop-output-schema"} {
		if !slices.Contains(all, name) {
			t.Errorf("there is no change %s", name)
		}
	}
	for _, source := range []string{`server/tools "Structured Content".`, `client/elicitation "Capabilities"`, "ResourceLink."} {
		if !strings.Contains(why.String(), source) {
			t.Errorf("%s is not quoted in:\n%s", source, why.String())
		}
	}
}
