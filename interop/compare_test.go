package interop

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// exception is one line of a list of exceptions.
type exception struct {
	file   string
	line   int
	text   string
	fields [4]string
	needed bool
}

func (e *exception) covers(k key) bool {
	for i, value := range []string{k.client, k.server, k.caps, k.step} {
		// A slash is part of step names, so it must not end a glob's star.
		glob := strings.ReplaceAll(e.fields[i], "/", "\x00")
		if ok, err := path.Match(glob, strings.ReplaceAll(value, "/", "\x00")); err != nil || !ok {
			return false
		}
	}
	return true
}

func readExceptions(t *testing.T) []*exception {
	t.Helper()
	return exceptionsIn(t, "exceptions.txt")
}

func exceptionsIn(t *testing.T, name string) []*exception {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list []*exception
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		rule, reason, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(rule)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 4 || strings.TrimSpace(reason) == "" {
			t.Fatalf("%s:%d: want 'client server caps step  # reason'", name, n)
		}
		list = append(list, &exception{file: name, line: n, text: strings.TrimSpace(rule), fields: [4]string(fields)})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

type comparison struct {
	direct, bridged results
	exceptions      []*exception
}

func newComparison(t *testing.T, direct, bridged results) *comparison {
	t.Helper()
	return &comparison{direct, bridged, readExceptions(t)}
}

// check fails for each step that passes directly but not through the bridge.
func (c *comparison) check(t *testing.T, h *harness) {
	t.Helper()
	lost := map[string]bool{}
	for _, k := range ordered(c.direct) {
		direct, bridged := c.direct[k], c.bridged[k]
		if !direct.OK || bridged.OK || c.excepted(k) {
			continue
		}
		lost[k.server] = true
		t.Errorf("lost through the bridge: client %s, server %s, caps %s, step %s\n  direct:  ok %s\n  bridged: %s %s",
			k.client, k.server, k.caps, k.step, direct.Value, bridged.Error, bridged.Value)
	}
	for server := range lost {
		t.Logf("the end of the log of the bridge before %s:\n%s", server, h.bridges[server].tail())
	}
}

func (c *comparison) excepted(k key) bool { return excepted(c.exceptions, k) }

func excepted(exceptions []*exception, k key) bool {
	found := false
	for _, e := range exceptions {
		if e.covers(k) {
			e.needed, found = true, true
		}
	}
	return found
}

// checkStale fails for each exception of this test that nothing needed.
func checkStale(t *testing.T, exceptions []*exception, mine func(*exception) bool) {
	t.Helper()
	for _, e := range exceptions {
		if mine(e) && !e.needed {
			t.Errorf("%s:%d: nothing needs %q any more", e.file, e.line, e.text)
		}
	}
}

// wins tells what only the bridge makes possible.
func (c *comparison) wins() string {
	gained := map[string]int{}
	var pairs []string
	for _, k := range ordered(c.direct) {
		if c.direct[k].OK || !c.bridged[k].OK {
			continue
		}
		gained[k.step]++
		if k.step == "connect" {
			pairs = append(pairs, fmt.Sprintf("%s to %s (%s)", k.client, k.server, k.caps))
		}
	}
	var b strings.Builder
	b.WriteString("steps that pass only through the bridge:")
	for _, step := range slices.Sorted(maps.Keys(gained)) {
		fmt.Fprintf(&b, " %s %d;", step, gained[step])
	}
	fmt.Fprintf(&b, "\npairs that connect only through the bridge: %s", strings.Join(pairs, ", "))
	return b.String()
}

func ordered(r results) []key {
	return slices.SortedFunc(maps.Keys(r), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.server, b.server),
			cmp.Compare(a.caps, b.caps), cmp.Compare(slices.Index(steps, a.step), slices.Index(steps, b.step)))
	})
}
