package interop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// run makes the visits, those of one program by one process.
func (m *oauthMatrix) run(t *testing.T, visits []login) {
	t.Helper()
	programs := map[string][]login{}
	for _, l := range visits {
		program := strings.Join(l.client.argv, " ")
		programs[program] = append(programs[program], l)
	}
	var running sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, of := range programs {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			m.visit(t, of)
		})
	}
	running.Wait()
}

// loginTarget is what a client is told of a visit. Revoke is where it ends a token's
// life; without it the server holds no list of tokens, and the client sends a bad one.
type loginTarget struct {
	Label  string   `json:"label"`
	URL    string   `json:"url"`
	Revoke string   `json:"revoke,omitempty"`
	Steps  []string `json:"steps"`
}

func (m *oauthMatrix) visit(t *testing.T, visits []login) {
	c, mode := visits[0].client, visits[0].mode
	var targets []loginTarget
	for _, l := range visits {
		one := loginTarget{l.label(), l.url, "", l.client.steps(l.server.style)}
		if !l.server.checked {
			one.Revoke = l.server.login.issuer + revocation
		}
		targets = append(targets, one)
	}
	data, err := json.Marshal(targets)
	path := filepath.Join(m.h.dir, c.name+"."+mode+".json")
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Error(err)
		return
	}
	began := time.Now()
	said := m.h.execute(t, peer{name: c.name, client: c.argv}, path)
	t.Logf("%s %s: %d visits in %.1fs", mode, c.name, len(visits), time.Since(began).Seconds())
	for _, l := range visits {
		m.judge(t, l, said)
	}
}

// judge fails for each step that fails and is no exception, and for an exception that
// succeeds.
func (m *oauthMatrix) judge(t *testing.T, l login, said []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	reported := map[string]outcome{}
	for line := range strings.Lines(string(said)) {
		var report struct {
			Label, Step string
			outcome
		}
		if json.Unmarshal([]byte(line), &report) == nil && report.Label == l.label() {
			reported[report.Step] = report.outcome
		}
	}
	for _, step := range l.client.steps(l.server.style) {
		o, ok := reported[step]
		if !ok {
			o.Error = "the client did not report this step"
		}
		k := l.key(step)
		m.passed[k] = o.OK
		switch excepted := excepted(m.exceptions, k); {
		case excepted && o.OK:
			t.Errorf("%s %s %s %s passes, and is listed as an exception", k.client, k.server, k.caps, k.step)
		case !excepted && !o.OK:
			t.Errorf("%s %s %s %s: %s", k.client, k.server, k.caps, k.step, o.Error)
		default:
			if !o.OK {
				t.Logf("as listed: %s %s %s %s: %s", k.client, k.server, k.caps, k.step, o.Error)
			}
		}
	}
}
