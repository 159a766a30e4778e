package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// atOnce bounds the client processes that run at the same time.
const atOnce = 3

// harness holds the servers, and later their bridges, that all clients share.
type harness struct {
	dir     string
	servers []peer
	direct  map[string]string // server name to URL
	bridged map[string]string
	bridges map[string]*process
}

// key identifies one step of one client against one server.
type key struct{ client, server, caps, step string }

// outcome is what the client reported about a step.
type outcome struct {
	OK    bool            `json:"ok"`
	Value json.RawMessage `json:"value"`
	Error string          `json:"error"`
}

type results map[key]outcome

type target struct {
	Label string `json:"label"`
	place
	Starts bool     `json:"starts"`
	Caps   string   `json:"caps"`
	Steps  []string `json:"steps"`
}

func newHarness(t *testing.T, servers []peer) *harness {
	t.Helper()
	h := &harness{
		dir: t.TempDir(), servers: servers,
		direct: map[string]string{}, bridged: map[string]string{}, bridges: map[string]*process{},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, s := range servers {
		p, url, err := startServer(ctx, s, h.peerLog(s.name), filepath.Join(h.dir, s.name+".err"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.stop)
		h.direct[s.name] = url
	}
	return h
}

func (h *harness) peerLog(server string) string { return filepath.Join(h.dir, server+".log") }

func (h *harness) startBridges(t *testing.T) {
	t.Helper()
	binary, err := builtBridge()
	if err != nil {
		t.Fatalf("the bridged half cannot run, the bridge does not build: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, s := range h.servers {
		p, url, err := startBridge(ctx, binary, h.direct[s.name], filepath.Join(h.dir, s.name+".bridge"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.stop)
		h.bridged[s.name], h.bridges[s.name] = url, p
	}
}

// run lets every client visit every server that has a URL and gathers what they
// report.
func (h *harness) run(t *testing.T, clients []peer, mode string, urls map[string]string) results {
	t.Helper()
	places := map[string]place{}
	for server, url := range urls {
		places[server] = place{URL: url}
	}
	return h.runAt(t, clients, mode, func(peer) map[string]place { return places })
}

// runAt does so for servers that are reached in other ways too, or not by all.
func (h *harness) runAt(t *testing.T, clients []peer, mode string, of func(client peer) map[string]place) results {
	t.Helper()
	var mu sync.Mutex
	var running sync.WaitGroup
	all := results{}
	slots := make(chan struct{}, atOnce)
	for _, c := range clients {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found := h.runClient(t, c, mode, of(c))
			mu.Lock()
			defer mu.Unlock()
			for k, o := range found {
				all[k] = o
			}
		})
	}
	running.Wait()
	return all
}

func (h *harness) runClient(t *testing.T, c peer, mode string, places map[string]place) results {
	began := time.Now()
	var targets []target
	labels := map[string]key{}
	for _, s := range h.servers {
		where, ok := places[s.name]
		if !ok {
			continue
		}
		for _, caps := range []string{"full", "none"} {
			k := key{client: c.name, server: s.name, caps: caps}
			labels[label(k, mode)] = k
			targets = append(targets, target{label(k, mode), where, where.starts(), caps, s.takes(c.stepsOf(k, mode))})
		}
	}
	path := h.targetsOf(c.name, mode)
	data, err := json.Marshal(targets)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	found := parse(t, labels, h.execute(t, c, path))
	t.Logf("%s %s: %d steps in %.1fs", mode, c.name, len(found), time.Since(began).Seconds())
	return found
}

func (h *harness) targetsOf(client, mode string) string {
	return filepath.Join(h.dir, client+"."+mode+".json")
}

// label names a visit; the client also introduces itself to the server with it.
func label(k key, mode string) string {
	return k.client + "|" + k.server + "|" + k.caps + "|" + mode
}

func (h *harness) execute(t *testing.T, c peer, targets string) []byte {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.client[0], append(c.client[1:len(c.client):len(c.client)], "--targets", targets)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	errors, err := os.Create(targets + ".err")
	if err != nil {
		t.Error(err)
		return nil
	}
	defer errors.Close()
	cmd.Stderr = errors // of what it starts, too
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("client %s: %v\n%s", c.name, err, tail(errors.Name()))
	}
	return out
}

// parse reads the client's lines; a step that it did not report has failed.
func parse(t *testing.T, labels map[string]key, out []byte) results {
	found := results{}
	for _, k := range labels {
		for _, step := range steps {
			k.step = step
			found[k] = outcome{Error: "the client did not report this step"}
		}
	}
	for line := range bytes.Lines(out) {
		var report struct {
			Label string
			Step  string
			outcome
		}
		// An SDK may print lines of its own; only the reports carry a label.
		if json.Unmarshal(line, &report) != nil {
			continue
		}
		if k, ok := labels[report.Label]; ok {
			k.step = report.Step
			found[k] = report.outcome
		}
	}
	return found
}
