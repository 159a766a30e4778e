package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// process is a server or a bridge that runs for the whole test, in a process
// group of its own, so that stopping it takes along whatever it started.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	errors string // path of what it wrote to standard error
	exited chan struct{}
}

func start(argv []string, errors string, env ...string) (*process, io.Reader, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := os.Create(errors)
	if err != nil {
		return nil, nil, err
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, errors: errors, exited: make(chan struct{})}
	return p, stdout, nil
}

// watch drains the rest of the output, without which the process would block
// once the pipe is full, and notes the end.
func (p *process) watch(rest io.Reader) {
	_, _ = io.Copy(io.Discard, rest)
	_ = p.cmd.Wait()
	close(p.exited)
}

func (p *process) stop() {
	_ = p.stdin.Close()
	group := -p.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(group, syscall.SIGKILL)
		<-p.exited
	}
}

func (p *process) tail() string { return tail(p.errors) }

// tail returns the last lines of a file.
func tail(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// startServer returns once the server peer has printed its URL.
func startServer(ctx context.Context, s peer, log, errors string) (*process, string, error) {
	p, stdout, err := start(s.server, errors, "PEER_LOG="+log)
	if err != nil {
		return nil, "", err
	}
	lines := bufio.NewReader(stdout)
	printed := make(chan string, 1)
	go func() {
		line, _ := lines.ReadString('\n')
		printed <- line
		p.watch(lines)
	}()
	select {
	case line := <-printed:
		var ready struct{ URL string }
		if json.Unmarshal([]byte(line), &ready) == nil && ready.URL != "" {
			return p, ready.URL, nil
		}
		p.stop()
		return nil, "", fmt.Errorf("server %s printed %q\n%s", s.name, line, p.tail())
	case <-ctx.Done():
		p.stop()
		return nil, "", fmt.Errorf("server %s printed no URL: %w", s.name, ctx.Err())
	}
}

// startBridge returns once the bridge accepts connections on its listen address.
// The flags say what differs from a bridge to that upstream; without an upstream
// they have to name it.
func startBridge(ctx context.Context, binary, upstream, errors string, flags ...string) (*process, string, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, "", err
	}
	listen, admin := ports[0], ports[1]
	argv := append([]string{binary, "serve", "--listen", listen, "--admin", admin}, flags...)
	if upstream != "" {
		argv = append(argv, "--upstream", upstream)
	}
	p, stdout, err := start(argv, errors)
	if err != nil {
		return nil, "", err
	}
	go p.watch(stdout)
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		conn, err := net.Dial("tcp", listen)
		if err == nil {
			return p, "http://" + listen + "/mcp", conn.Close()
		}
		select {
		case <-retry.C:
		case <-p.exited:
			return nil, "", fmt.Errorf("the bridge ended at start:\n%s", p.tail())
		case <-ctx.Done():
			p.stop()
			return nil, "", fmt.Errorf("the bridge does not listen: %w\n%s", ctx.Err(), p.tail())
		}
	}
}

// freePorts asks the system for addresses that nobody uses right now.
func freePorts(n int) ([]string, error) {
	var addresses []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
