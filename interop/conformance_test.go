package interop

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// handshakes is the last revision with a handshake.
const handshakes = "2025-11-25"

// trial is one run of the official conformance suite of a revision.
type trial struct {
	revision string
	server   string // the era of the server; "-direct" is one without a bridge
}

// measure is the run that tells what the suite finds without a bridge.
func (r trial) measure() trial {
	if r.revision == stateless {
		return trial{stateless, "modern-direct"}
	}
	return trial{handshakes, "legacy-direct"}
}

var trials = []trial{
	{stateless, "modern-direct"},
	{stateless, "modern"},
	{stateless, "legacy"},
	{stateless, "legacy-sse"},
	{stateless, "legacy-stdio"},
	{handshakes, "legacy-direct"},
	{handshakes, "legacy"},
	{handshakes, "legacy-sse"},
	{handshakes, "legacy-stdio"},
	{handshakes, "modern"},
}

// TestConformance runs the official suite of either era against a server of either
// era through the bridge. What the suite finds fault with is in conformance.txt.
func TestConformance(t *testing.T) {
	urls := startEverything(t)
	found := make([]verdicts, len(trials))
	slots := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	for i, r := range trials {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[i] = runSuite(t, r, urls[r.server])
		})
	}
	running.Wait()
	exceptions := exceptionsIn(t, "conformance.txt")
	measured := map[trial]verdicts{}
	for i, r := range trials {
		measured[r] = found[i]
	}
	for _, r := range trials {
		measured[r].check(t, r, measured[r.measure()], exceptions)
		t.Logf("suite of %s, %s: %s", r.revision, r.server, measured[r])
	}
	checkStale(t, exceptions, func(*exception) bool { return true })
}

// startEverything starts a server of each era and a bridge before each, and
// returns where they are.
func startEverything(t *testing.T) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if _, err := os.Stat(suite); errors.Is(err, os.ErrNotExist) {
		must(t, quietly(ctx, "npm", "ci", "--no-audit", "--no-fund"))
	}
	binary := filepath.Join(binDir, "everything")
	must(t, quietly(ctx, "go", "build", "-C", filepath.Join("peers", "everything"), "-o", binary, "."))
	bridge, err := builtBridge()
	must(t, err)
	dir, urls := t.TempDir(), map[string]string{}
	for name, argv := range map[string][]string{"modern": {binary, "-stateless"}, "legacy": {binary}, "legacy-sse": {binary, "-sse"}} {
		p, url, err := startServer(ctx, peer{name: name, server: argv}, filepath.Join(dir, name+".log"), filepath.Join(dir, name+".err"))
		must(t, err)
		t.Cleanup(p.stop)
		urls[name+"-direct"] = url
		p, urls[name], err = startBridge(ctx, bridge, url, filepath.Join(dir, name+".bridge"))
		must(t, err)
		t.Cleanup(p.stop)
	}
	p, url, err := startBridge(ctx, bridge, "", filepath.Join(dir, "stdio.bridge"), "--stdio", binary+" -stdio")
	must(t, err)
	t.Cleanup(p.stop)
	urls["legacy-stdio"] = url
	return urls
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var suite = filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")

// runSuite returns what the suite found. Its exit code says no more than that.
func runSuite(t *testing.T, r trial, url string) verdicts {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shim := "./" + filepath.Join("peers", "node", "globsync.mjs")
	cmd := exec.CommandContext(ctx, "node", "--import", shim, suite, "server", "--url", url, "--requirements", r.revision, "-o", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		t.Errorf("suite of %s, %s: %v\n%s", r.revision, r.server, err, out)
	}
	found, err := readVerdicts(dir)
	if err != nil || len(found) == 0 {
		t.Errorf("suite of %s, %s: no results: %v\n%s", r.revision, r.server, err, out)
	}
	return found
}
