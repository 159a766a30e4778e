package interop

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// observations is what the client of one visit saw, step by step, without what is
// another in each session.
type observations struct {
	dir, label string
	steps      []string // in the order in which they were made
	found      map[string]outcome
	log        func() string // the end of the bridge's log
}

func newObservations(dir, label string) *observations {
	return &observations{dir: dir, label: label, found: map[string]outcome{}, log: func() string { return "" }}
}

// readSteps reads the client's reports, up to the line that says that it ends. It
// calls idle when the client says that it only waits.
func (o *observations) readSteps(lines *bufio.Reader, idle func()) error {
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("the client ended within its steps: %w", err)
		}
		var report struct {
			Label, Step string
			Idle, Ends  bool
			outcome
		}
		if json.Unmarshal(line, &report) != nil || report.Label != o.label {
			continue // an SDK's own line
		}
		if report.Ends {
			return nil
		}
		if report.Idle {
			idle()
			continue
		}
		if err := o.add(report.Step, report.outcome); err != nil {
			return err
		}
	}
}

func (o *observations) add(step string, found outcome) error {
	plain, err := o.normal(found.Value)
	if err != nil {
		return fmt.Errorf("step %s: %w", step, err)
	}
	found.Value = plain
	o.steps = append(o.steps, step)
	o.found[step] = found
	return nil
}

// check fails for each step that failed, and for each that the direct visit saw
// otherwise. It returns how many are equal.
func (o *observations) check(t *testing.T, k key, direct *observations, exceptions []*exception) int {
	t.Helper()
	same, lost := 0, false
	for _, step := range direct.steps {
		k.step = step
		want, got := direct.found[step], o.found[step]
		switch {
		case want.OK && got.OK && bytes.Equal(want.Value, got.Value):
			same++
		case excepted(exceptions, k):
		case !got.OK:
			lost = true
			t.Errorf("client %s, server %s (%s): step %s failed: %s", k.client, k.server, k.caps, step, got.Error)
		case want.OK:
			lost = true
			t.Errorf("client %s, server %s: step %s is other than directly\n%s", k.client, k.server, step, difference(want.Value, got.Value))
		}
	}
	if len(o.steps) > len(direct.steps) {
		t.Errorf("client %s, server %s: there are %d steps, directly %d", k.client, k.server, len(o.steps), len(direct.steps))
	}
	if lost {
		t.Logf("client %s, server %s: the end of the log:\n%s", k.client, k.server, o.log())
	}
	return same
}

// difference shows where two observations part.
func difference(direct, bridged []byte) string {
	at := 0
	for at < len(direct) && at < len(bridged) && direct[at] == bridged[at] {
		at++
	}
	part := func(data []byte) string {
		return strings.ToValidUTF8(string(data[max(0, at-80):min(len(data), at+240)]), "")
	}
	return fmt.Sprintf("  direct:  …%s\n  bridged: …%s", part(direct), part(bridged))
}

// volatile is what is another in each session, and what stands for it.
var volatile = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "<uuid>"},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "<task>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`), "<instant>"},
	{regexp.MustCompile(`\b\d{1,2}:\d\d:\d\d\s[AP]M`), "<time>"},
	{regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} \d\d \d{4} [\d:]+ GMT[^\n]*`), "<date>"},
}

// normal returns the value without that. Members are sorted, as JSON does not order
// them; numbers stay as they are written.
func (o *observations) normal(value json.RawMessage) (json.RawMessage, error) {
	if len(value) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(o.settle(v))
}

func (o *observations) settle(v any) any {
	switch v := v.(type) {
	case string:
		return o.settled(v)
	case []any:
		for i := range v {
			v[i] = o.settle(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = o.settle(v[name])
			if blob, ok := v[name].(string); ok && name == "blob" {
				v[name] = o.opened(blob)
			}
		}
	}
	return v
}

func (o *observations) settled(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, o.dir, "<dir>"), o.label, "<visit>")
	for _, one := range volatile {
		s = one.pattern.ReplaceAllString(s, one.name)
	}
	return s
}

// opened reads a blob that is text, which may hold a time.
func (o *observations) opened(blob string) string {
	data, err := base64.StdEncoding.DecodeString(blob)
	if err != nil || !utf8.Valid(data) {
		return blob
	}
	return "base64 of " + o.settled(string(data))
}
