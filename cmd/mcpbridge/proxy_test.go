package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// program runs this program with variables, as a process of its own: it reads
// those for proxies once.
type program struct {
	t        *testing.T
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	problems bytes.Buffer
}

func runProgram(t *testing.T, env []string, args ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0], args...)}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			p.cmd.Env = append(p.cmd.Env, v)
		}
	}
	p.cmd.Env = append(p.cmd.Env, append(env, programVariable+"=1", "GORACE=atexit_sleep_ms=0", "GOCOVERDIR="+t.TempDir())...)
	p.cmd.Stderr = &p.problems
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// say writes messages and returns the next line.
func (p *program) say(text string) string {
	p.t.Helper()
	if _, err := io.WriteString(p.in, text); err != nil {
		p.t.Error(err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Errorf("no answer: %v", err)
	}
	return line
}

// end ends the program and returns what it wrote to standard error.
func (p *program) end() string {
	p.t.Helper()
	if err := p.in.Close(); err != nil {
		p.t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("%v:\n%s", err, p.problems.String())
	}
	return p.problems.String()
}

// TestUpstreamBehindAProxy reaches a server by each transport through the
// proxy of the environment, which alone knows its name.
func TestUpstreamBehindAProxy(t *testing.T) {
	site, _, endInner := bridgeTo(t, upstream(t).URL+"/mcp", "--allow-host", "upstream.invalid")
	defer endInner()
	inner, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	front := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(inner) }, FlushInterval: -1}
	secure, authority := transporttest.NewTLSServer(t, "upstream.invalid", front)
	proxy := transporttest.NewProxy(t, url.UserPassword("user", "secret"), map[string]string{
		"upstream.invalid:443": secure.Listener.Addr().String(), "upstream.invalid:80": inner.Host,
	})
	env := []string{"HTTPS_PROXY=" + proxy.URL().String(), "HTTP_PROXY=" + proxy.URL().String()}
	for to, asked := range map[string]string{
		"https://upstream.invalid/mcp": "CONNECT upstream.invalid:443", "wss://upstream.invalid/ws": "CONNECT upstream.invalid:443",
		"https://upstream.invalid/sse": "CONNECT upstream.invalid:443",
		"http://upstream.invalid/mcp":  "POST upstream.invalid:80", "ws://upstream.invalid/ws": "CONNECT upstream.invalid:80",
	} {
		t.Run(to, func(t *testing.T) {
			before := len(proxy.Asked())
			p := runProgram(t, env, "stdio", to, "--upstream-ca-file", authority, "--log-level", "debug")
			if got := p.say(opening); !strings.Contains(got, `"protocolVersion":"2024-11-05"`) {
				t.Errorf("initialize: %s", got)
			}
			if got := p.say(calling); !strings.Contains(got, `{\"n\":9007199254740993`) {
				t.Errorf("tools/call: %s", got)
			}
			if log := p.end(); strings.Contains(log, "secret") {
				t.Errorf("the log shows a credential:\n%s", log)
			}
			if all := proxy.Asked()[before:]; !slices.Contains(all, asked) {
				t.Errorf("the proxy was asked for %q", all)
			}
		})
	}
}

// TestProxyThatIsDown names it, without its credentials. A server on the
// loopback host is reached without it.
func TestProxyThatIsDown(t *testing.T) {
	env := []string{"HTTP_PROXY=http://user:secret@127.0.0.1:1"}
	p := runProgram(t, env, "stdio", "http://upstream.invalid/mcp")
	got := p.say(opening)
	if log := p.end(); !strings.Contains(got, "through the proxy http://127.0.0.1:1") || strings.Contains(got+log, "secret") || !strings.Contains(log, "through the proxy http://127.0.0.1:1: proxyconnect") {
		t.Errorf("initialize: %s\nlog:\n%s", got, log)
	}
	p = runProgram(t, env, "stdio", upstream(t).URL+"/mcp")
	if got := p.say(opening); !strings.Contains(got, `"protocolVersion":"2024-11-05"`) {
		t.Errorf("initialize: %s", got)
	}
	p.end()
}
