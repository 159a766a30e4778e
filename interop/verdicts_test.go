package interop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// fewest is how many scenarios either suite has at least for a server.
const fewest = 30

// check is one thing that a scenario of the conformance suite looks at.
type check struct{ scenario, id string }

// verdict is what the suite says about it.
type verdict struct{ Status, ErrorMessage string }

func (v verdict) bad() bool { return v.Status == "FAILURE" || v.Status == "WARNING" }

type verdicts map[check]verdict

var resultName = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT`)

// readVerdicts reads the results that the suite has written, of which there is a
// directory for each scenario. Of several verdicts on one thing the worst counts.
func readVerdicts(dir string) (verdicts, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		return nil, err
	}
	all := verdicts{}
	for _, file := range files {
		name := resultName.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		if name == nil {
			return nil, fmt.Errorf("%s is named like no result", file)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var list []struct {
			ID string
			verdict
		}
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, err
		}
		for _, one := range list {
			c := check{name[1], one.ID}
			if rank(one.Status) >= rank(all[c].Status) {
				all[c] = one.verdict
			}
		}
	}
	return all, nil
}

func rank(status string) int {
	return slices.Index([]string{"INFO", "SUCCESS", "WARNING", "FAILURE"}, status)
}

// check fails for each fault that is not listed, and for each thing that passes
// without a bridge and is not even looked at with one.
func (v verdicts) check(t *testing.T, r trial, direct verdicts, exceptions []*exception) {
	t.Helper()
	for _, c := range direct.checksWith(v) {
		one, looked := v[c]
		missed := !looked && direct[c].Status == "SUCCESS"
		if !one.bad() && !missed || excepted(exceptions, key{r.revision, r.server, c.scenario, c.id}) {
			continue
		}
		t.Errorf("suite of %s, %s: %s: %s is %q, directly %q: %s",
			r.revision, r.server, c.scenario, c.id, one.Status, direct[c].Status, one.ErrorMessage)
	}
	if n := len(v.scenarios()); n < fewest {
		t.Errorf("suite of %s, %s: only %d scenarios were run", r.revision, r.server, n)
	}
}

func (v verdicts) checksWith(others verdicts) []check {
	both := maps.Clone(v)
	maps.Copy(both, others)
	return slices.SortedFunc(maps.Keys(both), func(a, b check) int {
		return cmp.Or(cmp.Compare(a.scenario, b.scenario), cmp.Compare(a.id, b.id))
	})
}

// scenarios tells which have passed: those without a failure.
func (v verdicts) scenarios() map[string]bool {
	passed := map[string]bool{}
	for c, one := range v {
		before, known := passed[c.scenario]
		passed[c.scenario] = (before || !known) && one.Status != "FAILURE"
	}
	return passed
}

func (v verdicts) String() string {
	passed, statuses := 0, map[string]int{}
	scenarios := v.scenarios()
	for _, ok := range scenarios {
		if ok {
			passed++
		}
	}
	for _, one := range v {
		statuses[one.Status]++
	}
	return fmt.Sprintf("%d of %d scenarios pass; checks: %d pass, %d warn, %d fail", passed, len(scenarios),
		statuses["SUCCESS"], statuses["WARNING"], statuses["FAILURE"])
}
