package golden

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/rewrite"
)

var update = flag.Bool("update", false, "write the outputs of golden transcripts anew")

// Updating reports whether tests should write what they would compare.
func Updating() bool { return *update }

// Run plays every transcript below dir, each as a subtest, with the ladder of
// its setup out of ladders; the standard one is always there.
func Run(t *testing.T, dir string, ladders map[string]rewrite.Ladder, d rewrite.Deps) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts below %s (%v)", dir, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(path, dir+"/"), ".txtar")
		t.Run(name, func(t *testing.T) {
			c, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			ladder, ok := ladders[c.Setup.Ladder]
			if !ok {
				ladder = rewrite.Standard()
			}
			Play(t, c, ladder, d)
		})
	}
}

// Play plays one transcript.
func Play(t *testing.T, c *Case, ladder rewrite.Ladder, d rewrite.Deps) {
	t.Helper()
	p := newPlayer(c.Setup, ladder, d)
	var outputs [][]string
	for _, b := range c.Blocks {
		got, err := p.step(b.Step)
		if err != nil {
			t.Fatalf("%s\n%v", b.Step, err)
		}
		outputs = append(outputs, got)
		if !*update && !slices.Equal(got, b.Outputs) {
			t.Errorf("%s\ngot:\n\t%s\nwant:\n\t%s", b.Step, strings.Join(got, "\n\t"), strings.Join(b.Outputs, "\n\t"))
		}
	}
	for _, fault := range p.books.close() {
		t.Error(fault)
	}
	if c.Setup.Change != "" && !slices.Contains(p.heard.names, c.Setup.Change) {
		t.Errorf("the transcript is about the change %s, which did nothing", c.Setup.Change)
	}
	if *update && !t.Failed() {
		if err := c.write(outputs); err != nil {
			t.Fatal(err)
		}
	}
}
