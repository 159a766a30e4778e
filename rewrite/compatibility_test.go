package rewrite_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/internal/golden"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

const compatibility = "../docs/compatibility.md"

// TestCompatibilityTable: users read in docs/compatibility.md what the bridge
// does to their messages; it is written from the ladder.
func TestCompatibilityTable(t *testing.T) {
	want := table()
	if golden.Updating() {
		if err := os.WriteFile(compatibility, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(compatibility)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the ladder says; write it anew with: go test ./rewrite -run Compatibility -update", compatibility)
	}
}

const preamble = `# What the bridge does to messages

This page is generated from the ladder in package ` + "`rewrite`" + `. Each change has a name, which is also the
label of ` + "`mcpbridge_rewrites_total`" + ` and ` + "`mcpbridge_losses_total`" + `.

- **down**: runs toward a peer older than the revision, whatever the sender claims to speak. **up**: runs from an older
  peer toward a newer one. **always**: a repair of what a peer got wrong; it runs for every pair of versions.
  **session**: more than one message is involved. **gate**: a request that an older client cannot take is not passed on.
- Class **breaking** runs always, since the older peer would fail. Class **additive** runs only on a strict route
  (` + "`--strict`" + `), since the older peer would ignore what it does not know. Class **repair** runs always.
- **lost** says what the receiver will not see. With ` + "`--loss refuse`" + ` it gets an error instead.

A message that is right for its receiver leaves as it came, but for ids and progress tokens. Arguments, structured content,
schemas below the top, ` + "`_meta`" + ` values and ` + "`data`" + ` are never looked into.
What is done for known misbehaving peers alone is in [quirks.md](quirks.md).
`

func table() string {
	var b strings.Builder
	b.WriteString(preamble)
	for _, r := range rewrite.Standard() {
		fmt.Fprintf(&b, "\n## %s\n\n| change | class | runs | what it does | lost | source |\n|---|---|---|---|---|---|\n", r.Version)
		for _, c := range r.Changes {
			lost := c.Loss
			if lost == "" {
				lost = "–"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", c.Name, c.Class, strings.Join(runs(c), ", "), cell(c.Doc), cell(lost), cell(c.Source))
		}
	}
	return b.String()
}

// cell keeps a text from ending its cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func runs(c rewrite.Change) []string {
	var out []string
	for _, kind := range []struct {
		name string
		is   bool
	}{
		{"always", c.Repair != nil || c.Check != nil || c.Stage != nil && c.Class == rewrite.Repair},
		{"down", c.Downgrade != nil}, {"up", c.Upgrade != nil},
		{"session", c.Stage != nil}, {"gate", c.Lacks != nil},
	} {
		if kind.is {
			out = append(out, kind.name)
		}
	}
	return out
}
