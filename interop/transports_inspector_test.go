package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

var inspectorJS = module("@modelcontextprotocol/inspector/clients/cli/build/index.js")

// inspections are the calls of the inspector, each a session of its own.
var inspections = []struct {
	step string
	args []string
}{
	{"tools/list", []string{"--method", "tools/list"}},
	{"tools/call", []string{"--method", "tools/call", "--tool-name", "get-structured-content", "--tool-arg", "location=Chicago"}},
	{"resources/read", []string{"--method", "resources/read", "--uri", "demo://resource/static/document/features.md"}},
	{"prompts/get", []string{"--method", "prompts/get", "--prompt-name", "args-prompt", "--prompt-args", "city=Bern"}},
}

// inspectorVisits lists what the inspector visits.
func inspectorVisits() []visit {
	var list []visit
	for _, r := range references {
		if r.suite != "everything" || r.name == "supergateway-sse" {
			continue
		}
		if r.lane != "ws" {
			list = append(list, visit{"inspector", r, r.lane, false})
		}
		for _, lane := range []string{"stdio", "sse", "http"} {
			list = append(list, visit{"inspector", r, lane, true})
		}
	}
	return list
}

// measure is the visit with which this one is compared. The inspector does not
// speak WebSocket, so its measure there is the server behind the gateway.
func (v visit) measure() visit {
	if v.client == "inspector" && v.server.lane == "ws" {
		return visit{v.client, references[0], references[0].lane, false}
	}
	return visit{v.client, v.server, v.server.lane, false}
}

// inspect lets the inspector make each of its calls.
func (m *transportMatrix) inspect(ctx context.Context, v visit, peers *party) (*observations, error) {
	dir, err := m.prepare(v.label())
	if err != nil {
		return nil, err
	}
	where, err := m.approach(ctx, v, dir, peers)
	if err != nil {
		return nil, err
	}
	args, err := where.forInspector(v.lane, filepath.Join(dir, "servers.json"))
	if err != nil {
		return nil, err
	}
	found := newObservations(dir, v.label())
	for _, one := range inspections {
		argv := slices.Concat([]string{inspectorJS}, args, one.args, []string{"--format", "json"})
		if err := found.add(one.step, runInspector(ctx, dir, m.node, argv)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// forInspector says in arguments where the server is. A command comes from a file, as
// it has flags of its own.
func (p place) forInspector(lane, path string) ([]string, error) {
	if p.URL != "" {
		return []string{"--server-url", p.URL, "--transport", lane}, nil
	}
	config := map[string]any{"mcpServers": map[string]any{"one": map[string]any{"command": p.Command[0], "args": p.Command[1:]}}}
	data, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	return []string{"--config", path, "--server", "one"}, os.WriteFile(path, data, 0o644)
}

// runInspector returns the inspector's answer, a single line of JSON.
func runInspector(ctx context.Context, home, node string, argv []string) outcome {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, argv...)
	cmd.Env = append(os.Environ(), "HOME="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return outcome{Error: fmt.Sprintf("%v: %s%s", err, out, stderr.Bytes())}
	}
	if !json.Valid(out) {
		return outcome{Error: fmt.Sprintf("no JSON: %s", out)}
	}
	return outcome{OK: true, Value: out}
}
