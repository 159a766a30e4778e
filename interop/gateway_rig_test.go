package interop

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gateway is a bridge that serves several routes from a file.
type gateway struct {
	*watched
	site, file string
	version    int // of the file
}

// startGateway starts a bridge with the routes, on an address of its own.
func startGateway(t *testing.T, commands, routes string, flags ...string) *gateway {
	t.Helper()
	binary, err := builtBridge()
	must(t, err)
	ports, err := freePorts(1)
	must(t, err)
	dir := t.TempDir()
	g := &gateway{file: filepath.Join(dir, "gateway.yaml")}
	must(t, g.replaceFile(routes))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	flags = append([]string{"--config", g.file, "--admin", ports[0], "--log-format", "json"}, flags...)
	p, at, err := startBridge(ctx, binary, "", filepath.Join(dir, "bridge"), flags...)
	must(t, err)
	t.Cleanup(p.stop)
	g.site = strings.TrimSuffix(at, "/mcp")
	g.watched = &watched{p, at, "http://" + ports[0], commands}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of the gateway ends\n%s", g.tail())
		}
	})
	return g
}

// replaceFile renames the next version of the file into place. Each version
// has a path of its own at which the bridge tells that it is at work.
func (g *gateway) replaceFile(routes string) error {
	g.version++
	text := fmt.Sprintf("health_paths: [%s]\n%s", g.marker(), routes)
	next := g.file + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(next, g.file)
}

func (g *gateway) marker() string { return fmt.Sprintf("/version-%d", g.version) }

// reload puts other routes to work.
func (g *gateway) reload(t *testing.T, routes string) {
	t.Helper()
	must(t, g.replaceFile(routes))
	must(t, g.cmd.Process.Signal(syscall.SIGHUP))
	eventually(t, fmt.Sprintf("version %d of the file is at work", g.version), func() bool {
		return g.status(t, g.site+g.marker()) == http.StatusOK
	})
}

// reloadWrong gives the bridge a file that it must refuse.
func (g *gateway) reloadWrong(t *testing.T, routes string) {
	t.Helper()
	failed := func() float64 { return g.reloads(t, "failed") }
	before := failed()
	must(t, g.replaceFile(routes))
	must(t, g.cmd.Process.Signal(syscall.SIGHUP))
	eventually(t, "the wrong file is refused", func() bool { return failed() > before })
	if got := g.status(t, g.site+g.marker()); got != http.StatusNotFound {
		t.Errorf("a wrong file is at work: %d", got)
	}
}

// reloads is how often the file was read again with that outcome.
func (g *gateway) reloads(t *testing.T, outcome string) float64 {
	t.Helper()
	text := g.metrics(t)
	if label := `outcome="` + outcome + `"`; bytes.Contains(text, []byte(label)) {
		return sum(t, text, "mcpbridge_config_reloads_total", label)
	}
	return 0
}

// status asks for a URL, on a connection of its own.
func (g *gateway) status(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("%v\n%s", err, g.tail())
	}
	defer response.Body.Close()
	return response.StatusCode
}

// everythings are server-everything as a command and as a URL.
type everythings struct{ node, program, url string }

// startEverythings starts the one with the URL.
func startEverythings(t *testing.T) *everythings {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node, err := newNode(ctx)
	must(t, err)
	m := &transportMatrix{node: node}
	p, where, err := m.listen(ctx, &reference{name: "everything", program: everythingJS, args: []string{"streamableHttp"}, path: "/mcp"}, t.TempDir())
	must(t, err)
	t.Cleanup(p.stop)
	program, err := filepath.Abs(module(everythingJS))
	must(t, err)
	return &everythings{node, program, where.URL}
}

// command returns a command in YAML. Its processes run by a name of their own
// below marks, so that they can be told from others.
func (e *everythings) command(t *testing.T) (yaml, marks string) {
	t.Helper()
	marks = t.TempDir()
	return fmt.Sprintf("[%q, %q, stdio]", linkTo(t, e.node, marks), e.program), marks
}

// linkTo gives a program another name.
func linkTo(t *testing.T, program, dir string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	must(t, err)
	path, err = filepath.Abs(path)
	must(t, err)
	link := filepath.Join(dir, filepath.Base(program))
	must(t, os.Symlink(path, link))
	return link
}
