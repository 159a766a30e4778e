package metrics_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The queries of the playbook name metrics and labels that there are.
func TestPlaybook(t *testing.T) {
	page, err := os.ReadFile("../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	exposed, err := os.ReadFile("testdata/exposition.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string][]string{} // labels by metric
	for line := range strings.Lines(string(exposed)) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "TYPE" {
			known[f[2]] = []string{"route", "le"}
			continue
		}
		for _, label := range labelled.FindAllStringSubmatch(line, -1) {
			name := baseOf(line[:strings.IndexAny(line, "{ ")])
			known[name] = append(known[name], label[1])
		}
	}
	queries := block.FindAllStringSubmatch(string(page), -1)
	if len(queries) < 15 {
		t.Fatalf("%d queries", len(queries))
	}
	for _, query := range queries {
		var labels []string
		for _, name := range metric.FindAllString(query[1], -1) {
			if known[baseOf(name)] == nil {
				t.Errorf("there is no metric %s", name)
			}
			labels = append(labels, known[baseOf(name)]...)
		}
		for _, by := range grouped.FindAllStringSubmatch(query[1], -1) {
			for _, label := range strings.Split(by[1], ", ") {
				if !slices.Contains(labels, label) {
					t.Errorf("there is no label %s in\n%s", label, query[1])
				}
			}
		}
		for _, label := range labelled.FindAllStringSubmatch(query[1], -1) {
			if !slices.Contains(labels, label[1]) {
				t.Errorf("there is no label %s in\n%s", label[1], query[1])
			}
		}
	}
}

var (
	block    = regexp.MustCompile("(?s)```promql\n(.*?)```")
	metric   = regexp.MustCompile(`mcpbridge_\w+`)
	labelled = regexp.MustCompile(`(\w+)="`)
	grouped  = regexp.MustCompile(`by \(([^)]*)\)`)
)

// baseOf is a histogram's own name.
func baseOf(name string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}
