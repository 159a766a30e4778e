package main

import (
	"errors"
	"fmt"
	"strconv"
)

// intro tells who takes part.
func (p *demoPage) intro(server, bridge, note string) {
	p.headline("mcpbridge demo: an old client, a new server, and the bridge between them")
	p.line()
	p.entry("client  ", "speaks "+demoClientVersion+" only, sends batches, cannot put questions to its user", plain)
	p.entry("bridge  ", bridge, plain)
	if note != "" {
		p.entry("        ", remark+note, plain)
	}
	p.entry("server  ", server+" speaks "+demoServerVersion+" only, and all of it", plain)
	p.columnHeads()
}

// body writes the exhibits and the summary. It returns an error when anything
// is other than the demo claims.
func (p *demoPage) body(exhibits []demoExhibit, counts demoCounts) error {
	var problems []error
	summary := showCounts(counts)
	checks := summary.checks
	for i, e := range exhibits {
		p.exhibit(strconv.Itoa(i+1)+". "+e.title, e)
		problems = append(problems, e.problems()...)
		checks += e.checks
	}
	problems = append(problems, summary.problems()...)
	p.title(summary.title)
	for _, row := range counts.summary() {
		p.entry(pad(row[0], summaryLabel), row[1], plain)
	}
	for _, what := range summary.unmet {
		p.entry(pad("BROKEN", summaryLabel), "expected: "+what, red)
	}
	p.title(fmt.Sprintf("%d of %d checks hold.", checks-len(problems), checks))
	return errors.Join(problems...)
}

// summaryLabel is the width of the longest label of the summary and a gap.
const summaryLabel = 11

func (e demoExhibit) problems() []error {
	var out []error
	for _, what := range e.unmet {
		out = append(out, fmt.Errorf("demo: checking %q: expected that %s", e.title, what))
	}
	return out
}
