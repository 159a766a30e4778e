package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// sdkTarget is what the client of the TypeScript SDK is told.
type sdkTarget struct {
	Label     string `json:"label"`
	Transport string `json:"transport"`
	Suite     string `json:"suite"`
	Dir       string `json:"dir"`
	Unheard   bool   `json:"unheard"`
	place
}

// visit runs the server's suite in one session of the SDK's client.
func (m *transportMatrix) visit(ctx context.Context, v visit, peers *party) (*observations, error) {
	dir, err := m.prepare(v.label())
	if err != nil {
		return nil, err
	}
	where, err := m.approach(ctx, v, dir, peers)
	if err != nil {
		return nil, err
	}
	target, err := json.Marshal(sdkTarget{v.label(), v.lane, v.server.suite, dir, v.server.unheard, where})
	if err != nil {
		return nil, err
	}
	script := filepath.Join("peers", "node", "transports-client.mjs")
	client, stdout, err := start([]string{m.node, script, string(target)}, filepath.Join(dir, "client.err"))
	if err != nil {
		return nil, err
	}
	peers.client = client
	defer context.AfterFunc(ctx, func() { _ = syscall.Kill(-client.cmd.Process.Pid, syscall.SIGKILL) })()
	lines := bufio.NewReader(stdout)
	found := newObservations(dir, v.label())
	err = found.readSteps(lines, peers.idle)
	go client.watch(lines)
	found.log = client.tail
	if len(peers.others) > 0 && v.lane != "stdio" {
		found.log = peers.others[len(peers.others)-1].tail
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, client.tail())
	}
	return found, nil
}

// approach returns how the visit's client gets to the server: straight, or to a
// bridge that it starts, or one that is started for it.
func (m *transportMatrix) approach(ctx context.Context, v visit, dir string, peers *party) (place, error) {
	where, err := m.reach(ctx, v.server, dir, peers)
	if err != nil || !v.bridged {
		return where, err
	}
	if v.lane == "stdio" {
		return place{Command: slices.Concat([]string{m.bridge, "stdio"}, where.flags())}, nil
	}
	p, url, err := startBridge(ctx, m.bridge, "", filepath.Join(dir, "bridge.err"), where.flags()...)
	if err != nil {
		return place{}, err
	}
	peers.others = append(peers.others, p)
	base := strings.TrimSuffix(url, "/mcp")
	return place{URL: map[string]string{
		"sse": base + "/sse", "http": url, "ws": "ws" + strings.TrimPrefix(base, "http") + "/ws",
	}[v.lane]}, nil
}

// flags tells a bridge what is behind it. Which transport a URL's server speaks is
// for the bridge to find out.
func (p place) flags() []string {
	if p.URL != "" {
		return []string{"--upstream", p.URL}
	}
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		flags = append(flags, "--env", name+"="+p.Env[name])
	}
	return slices.Concat(flags, []string{"--"}, p.Command)
}

// prepare makes a visit's own directory, with what the filesystem server is asked for.
func (m *transportMatrix) prepare(label string) (string, error) {
	dir := filepath.Join(m.dir, label)
	for _, name := range []string{"start", "files", "more"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return "", err
		}
	}
	for name, content := range map[string]string{
		"secret.txt":     "nobody reads this",
		"files/dot.png":  "\x89PNG\r\n\x1a\n\x00dot",
		"files/tone.wav": "RIFF\x24\x00\x00\x00WAVEtone",
		"files/some.bin": "\x00\x01\xfe\xff",
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}
