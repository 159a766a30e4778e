package interop

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// quickStart is what the README says about a file with several servers.
const quickStart = "## Several servers, one file"

// quickStartPorts are those of both servers and of the metrics.
var quickStartPorts = []string{"3001", "8080", "9090"}

// TestQuickStart does what the README says, to the letter: the files that it shows,
// the commands, and the addresses at which clients find the servers.
func TestQuickStart(t *testing.T) {
	text := section(t, filepath.Join("..", "README.md"), quickStart)
	bridge, err := builtBridge()
	must(t, err)
	bridge, err = filepath.Abs(bridge)
	must(t, err)
	home := newHome(t, bridge)
	must(t, os.WriteFile(filepath.Join(home.dir, "servers.json"), []byte(fence(t, text, "json")), 0o600))
	for _, sample := range fences(text, "yaml") {
		must(t, os.WriteFile(filepath.Join(home.dir, "more.yaml"), []byte(sample), 0o600))
		if out, err := home.run(bridge, "validate", "more.yaml").CombinedOutput(); err != nil {
			t.Errorf("a sample in YAML is not valid: %v\n%s\n%s", err, out, sample)
		}
	}
	urls := regexp.MustCompile("`((?:http|ws)://[^`]+)`").FindAllStringSubmatch(text, -1)
	if len(urls) < 3 || !strings.Contains(text, "`/local/sse`") {
		t.Fatalf("the README does not say where both servers are, and on each transport: %q", urls)
	}
	for _, port := range quickStartPorts {
		free(t, port)
	}
	home.start(t, fence(t, text, "sh"))
	l := startLoad(t)
	tools := map[string]json.RawMessage{}
	for _, found := range append(urls, []string{"", "http://127.0.0.1:8080/local/sse"}) {
		url := found[1]
		l.must(t, order{Op: "open", Session: url, URL: url})
		tools[url] = l.must(t, order{Op: "tools", Session: url}).Value
		if !slices.Contains(names(t, tools[url]), "echo") {
			t.Errorf("%s: the tools are %s", url, tools[url])
		}
		if got := string(l.must(t, l.as("call", url)).Value); got != `"Echo: é"` {
			t.Errorf("%s: the call returned %s", url, got)
		}
		l.must(t, order{Op: "close", Session: url})
		t.Logf("%s: %d tools", url, len(names(t, tools[url])))
	}
}

func names(t *testing.T, value json.RawMessage) (list []string) {
	t.Helper()
	must(t, json.Unmarshal(value, &list))
	return list
}

// section is the part of a file under a heading.
func section(t *testing.T, path, heading string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	_, rest, ok := strings.Cut(string(text), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", path, heading)
	}
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}

// fence is the only block of code in a language.
func fence(t *testing.T, text, language string) string {
	t.Helper()
	blocks := fences(text, language)
	if len(blocks) != 1 {
		t.Fatalf("the section has %d blocks of %s, want one", len(blocks), language)
	}
	return blocks[0]
}

// fences returns all blocks of a language.
func fences(text, language string) (blocks []string) {
	for _, found := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, found[1])
	}
	return blocks
}

// free fails where a port that the README names is taken.
func free(t *testing.T, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatalf("port %s, which the README uses, is taken on this machine: %v", port, err)
	}
	must(t, l.Close())
}

// home is where a user works who has the bridge, Node.js and the servers, and no
// network.
type home struct {
	dir string
	env []string
}

func newHome(t *testing.T, bridge string) *home {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	node, err := newNode(t.Context())
	must(t, err)
	linkTo(t, node, bin)
	must(t, os.Symlink(bridge, filepath.Join(bin, "mcpbridge")))
	modules, err := filepath.Abs("node_modules")
	must(t, err)
	must(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	must(t, os.WriteFile(filepath.Join(dir, ".npmrc"), []byte("offline=true\nupdate-notifier=false\n"), 0o600))
	loopback, err := filepath.Abs(filepath.Join("peers", "node", "loopback.mjs"))
	must(t, err)
	return &home{dir, append(os.Environ(),
		"HOME="+dir, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"SEARCH_TOKEN=token", "NODE_OPTIONS=--import "+loopback,
	)}
}

// run prepares a command of the user, in a process group of its own.
func (h *home) run(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// start runs a script, and returns when both servers are there. With the test it
// ends, and all that it started.
func (h *home) start(t *testing.T, script string) {
	t.Helper()
	cmd := h.run("sh", "-c", script)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	must(t, err)
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	must(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the commands wrote\n%s", text)
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		defer func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // nobody, if all is well
			<-ended
		}()
		for _, port := range quickStartPorts {
			eventually(t, "port "+port+" is left", func() bool { return !isServed(port) })
		}
	})
	for _, port := range quickStartPorts {
		eventually(t, "port "+port+" is served", func() bool { return isServed(port) })
	}
}

func isServed(port string) bool {
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
