package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpbridge/mcpbridge/configs"
)

func TestCommandLines(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for name, tc := range map[string]struct {
		args     []string
		code     int
		out, err string
	}{
		"nothing":         {nil, 0, "Usage:", ""},
		"help":            {[]string{"serve", "--help"}, 0, "mcpbridge serve --upstream https://", ""},
		"version":         {[]string{"version"}, 0, "MCP versions: 2024-11-05, ", ""},
		"completion":      {[]string{"completion", "bash"}, 0, "bash completion", ""},
		"stdio help":      {[]string{"stdio", "--help"}, 0, "mcpServers", ""},
		"stdio, nothing":  {[]string{"stdio"}, 2, "", "mcpbridge: --upstream: no upstream was given"},
		"stdio, endpoint": {[]string{"stdio", up, "--listen", "a:1"}, 2, "", "unknown flag: --listen"},
		"unknown command": {[]string{"server"}, 2, "", "mcpbridge: unknown command \"server\" for \"mcpbridge\""},
		"unknown flag":    {[]string{"serve", "--upstraem", "x"}, 2, "", "mcpbridge: unknown flag: --upstraem\nRun 'mcpbridge serve --help' for usage.\n"},
		"two arguments":   {[]string{"serve", "a", "b"}, 2, "", "accepts at most 1 arg"},
		"no upstream":     {[]string{"serve"}, 2, "", "mcpbridge: --upstream: no upstream was given"},
		"two problems":    {[]string{"serve", "--loss", "x"}, 2, "", "mcpbridge: --upstream: no upstream was given; tell the URL of the MCP server, as http://127.0.0.1:3000/mcp, or its command after --\nmcpbridge: --loss: "},
		"address in use": {[]string{"serve", up, "--listen", busy.Addr().String(), "--admin", "off"}, 1, "",
			"mcpbridge: listen " + busy.Addr().String() + ": address already in use; another mcpbridge or service has it; choose another with --listen\n"},
		"admin in use": {[]string{"serve", up, "--port", "0", "--admin", busy.Addr().String()}, 1, "", "choose another with --admin\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSurroundings(nil)
			if code := run(tc.args, s.process()); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if !strings.Contains(s.out.String(), tc.out) || !strings.Contains(s.err.String(), tc.err) {
				t.Errorf("stdout:\n%s\nstderr:\n%s", s.out, s.err)
			}
			if tc.code == 1 && strings.Contains(s.err.String(), "for usage") {
				t.Error("a failure is not a usage error")
			}
		})
	}
}

// call is an engine whose POST runs until it is told to end, and whose GET
// lasts as long as its request.
type call struct {
	begun, end chan struct{}
	closed     chan struct{}
	ready      error
}

func newCall() *call {
	return &call{begun: make(chan struct{}, 10), end: make(chan struct{}), closed: make(chan struct{})}
}

func (c *call) build(_ configs.Route, with common) (engine, error) {
	with.metrics.Rewritten("a-change")
	return engine{
		endpoint: http.HandlerFunc(c.serve),
		ready:    func(context.Context) error { return c.ready },
		close:    func(context.Context) error { close(c.closed); return nil },
	}, nil
}

func (c *call) serve(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	http.NewResponseController(w).Flush()
	c.begun <- struct{}{}
	if r.Method == http.MethodGet {
		<-r.Context().Done()
		return
	}
	select {
	case <-c.end:
		io.WriteString(w, "answer")
	case <-r.Context().Done():
	}
}

// started is a service under test.
type started struct {
	*call
	*surroundings
	endpoint, admin string
	result          chan error
}

func start(t *testing.T, c *call, set func(*single)) *started {
	t.Helper()
	cfg := defaults()
	cfg.Upstream, cfg.Listen, cfg.Admin = up, "127.0.0.1:0", "127.0.0.1:0"
	if set != nil {
		set(&cfg)
	}
	s := &started{call: c, surroundings: newSurroundings(nil), result: make(chan error, 1)}
	log, _ := newLog(cfg.Server, s.process())
	service, err := open(cfg.config(), log, c.build)
	if err != nil {
		t.Fatal(err)
	}
	go func() { s.result <- service.run(s.stop) }()
	var line struct{ Endpoint, Admin string }
	if err := json.Unmarshal([]byte(s.err.await(t, `"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	s.endpoint, s.admin = line.Endpoint, line.Admin
	return s
}

func fetch(t *testing.T, target string) (int, string) {
	t.Helper()
	resp, err := http.Get(target)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestServeAnswersAndStops(t *testing.T) {
	s := start(t, newCall(), nil)
	s.err.await(t, "the upstream answers")
	for _, tc := range []struct {
		url, body string
		status    int
	}{
		{strings.TrimSuffix(s.endpoint, "/mcp") + "/", `"message":"the MCP endpoint is /mcp"`, 404},
		{s.endpoint + "/x", `"message":"the MCP endpoint is /mcp"`, 404},
		{s.admin + "metrics", `mcpbridge_rewrites_total{change="a-change",route="default"} 1`, 200},
		{s.admin + "metrics", "go_goroutines", 200},
		{s.admin + "readyz", "ready", 200},
		{s.admin, s.endpoint, 200},
	} {
		if status, body := fetch(t, tc.url); status != tc.status || !strings.Contains(body, tc.body) {
			t.Errorf("%s: %d %s", tc.url, status, body)
		}
	}
	s.stop <- syscall.SIGTERM
	if err := <-s.result; err != nil {
		t.Errorf("stopped with %v", err)
	}
	<-s.closed
}

func TestStopWaitsForCallsAndNotForStreams(t *testing.T) {
	s := start(t, newCall(), nil)
	for _, path := range []string{s.endpoint, s.endpoint + "/"} {
		stream, err := http.Get(path)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Body.Close()
		<-s.begun
	}
	post, err := http.Post(s.endpoint, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer post.Body.Close()
	<-s.begun
	s.stop <- os.Interrupt
	s.err.await(t, "stopping")
	close(s.end)
	if body, err := io.ReadAll(post.Body); err != nil || string(body) != "answer" {
		t.Errorf("the call under way got %q, %v", body, err)
	}
	if err := <-s.result; err != nil {
		t.Errorf("stopped with %v", err)
	}
}

func TestSecondSignalStopsAtOnce(t *testing.T) {
	s := start(t, newCall(), nil)
	post, err := http.Post(s.endpoint, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer post.Body.Close()
	s.stop <- syscall.SIGTERM
	s.err.await(t, "stopping")
	s.stop <- syscall.SIGTERM
	var f failure
	if err := <-s.result; !errors.As(err, &f) || !errors.Is(err, errForced) {
		t.Errorf("stopped with %v", err)
	}
}

func TestUpstreamDownAtStart(t *testing.T) {
	c := newCall()
	c.ready = &url.Error{Op: "Post", URL: "http://a/?token=secret", Err: errors.New("connection refused")}
	s := start(t, c, func(cfg *single) { cfg.Upstream = "http://127.0.0.1:1/mcp?token=secret" })
	line := s.err.await(t, "the upstream does not answer; serving anyway")
	if !strings.Contains(line, `"level":"warn"`) || !strings.Contains(line, `"cause":"connection refused"`) {
		t.Errorf("log line: %s", line)
	}
	if status, body := fetch(t, s.admin+"readyz"); status != 503 || !strings.Contains(body, "connection refused") {
		t.Errorf("readyz: %d %s", status, body)
	}
	s.stop <- syscall.SIGTERM
	<-s.result
	if strings.Contains(s.err.String(), "secret") {
		t.Errorf("the log shows a token:\n%s", s.err)
	}
}

func TestAdminCanBeOff(t *testing.T) {
	s := start(t, newCall(), func(cfg *single) { cfg.Admin = "off" })
	if s.admin != "" {
		t.Errorf("admin listens on %s", s.admin)
	}
	s.stop <- syscall.SIGTERM
	<-s.result
}

func TestOpenListenerIsToldOf(t *testing.T) {
	s := start(t, newCall(), func(cfg *single) {
		cfg.Listen = "0.0.0.0:0"
		cfg.Headers.Set("Authorization", "secret")
		cfg.AllowAnonymous = true
	})
	s.err.await(t, "other machines reach this endpoint, and through it the upstream with the bridge's own credentials")
	if !strings.HasPrefix(s.endpoint, "http://localhost:") {
		t.Errorf("endpoint %s", s.endpoint)
	}
	s.stop <- syscall.SIGTERM
	<-s.result
	if strings.Contains(s.err.String(), "secret") {
		t.Error("the log shows a header")
	}
}
