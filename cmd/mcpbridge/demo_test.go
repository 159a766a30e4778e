package main

import (
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// masked hides what differs from run to run.
func masked(text string) string {
	return regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(text, "127.0.0.1:PORT")
}

func TestDemoOnce(t *testing.T) {
	for _, columns := range []string{"80", "120"} {
		t.Run(columns, func(t *testing.T) {
			s := newSurroundings(map[string]string{"COLUMNS": columns})
			if code := run([]string{"demo", "--once"}, s.process()); code != 0 || s.err.String() != "" {
				t.Errorf("exit code %d, stderr:\n%s", code, s.err)
			}
			path, got := filepath.Join("testdata", "demo-"+columns+".txt"), masked(s.out.String())
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the page differs from %s (run with -update to accept):\n%s", path, got)
			}
		})
	}
}

// The demo must notice when the bridge does not do what the demo tells.
func TestDemoChecksItself(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*configs.Route)
		want  string
	}{
		"text":     {func(c *configs.Route) { c.Options.InjectText = mcp.InjectNever }, "expected that the text is the JSON, digit for digit"},
		"fallback": {func(c *configs.Route) { c.Options.Fallback.Action = mcp.FallbackCancel }, "expected that the result names the field that was asked for"},
		"strict":   {func(c *configs.Route) { c.Options.Strict = true }, "expected that the bridge leaves the list as it is"},
		"loss":     {func(c *configs.Route) { c.Options.Loss = mcp.LossRefuse }, "expected that the link is text, the audio stays"},
		"version":  {func(c *configs.Route) { c.ClientVersions = []mcp.Version{"2025-06-18"} }, "expected that the bridge answers 2025-03-26"},
		"upstream": {func(c *configs.Route) { c.Upstream = "http://127.0.0.1:1/mcp" }, "no session was opened"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSurroundings(nil)
			d := &demo{process: s.process(), cfg: defaults(), once: true, build: spoiled(tc.spoil)}
			d.cfg.Listen, d.cfg.Admin, d.cfg.LogLevel = freePort, freePort, "error"
			err := d.run()
			var f failure
			if !errors.As(err, &f) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
			if shown := s.out.String(); shown != "" && !strings.Contains(shown, "BROKEN") {
				t.Errorf("the page does not show it:\n%s", shown)
			}
		})
	}
}

func spoiled(spoil func(*configs.Route)) engineBuilder {
	return func(r configs.Route, c common) (engine, error) {
		spoil(&r)
		return newEngine(r, c)
	}
}

func TestDemoKeepsServing(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for name, listen := range map[string]string{"free": freePort, "taken": busy.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			s := newSurroundings(map[string]string{"MCPBRIDGE_LISTEN": listen})
			code := make(chan int, 1)
			go func() { code <- run([]string{"demo"}, s.process()) }()
			endpoint := regexp.MustCompile(`http://[^"]+`).FindString(s.out.await(t, "mcpServers"))
			c := &client{t: t, endpoint: endpoint}
			if status, answer := c.initialize("2024-11-05"); status != 200 || !strings.Contains(answer, `"protocolVersion":"2024-11-05"`) {
				t.Errorf("initialize: %d %s", status, answer)
			}
			_, answer := c.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"report"}}`)
			if !strings.Contains(answer, `"type":"resource"`) {
				t.Errorf("audio toward 2024-11-05: %s", answer)
			}
			page := regexp.MustCompile(`http://\S+/metrics`).FindString(s.out.String())
			if _, text := fetch(t, page); !strings.Contains(text, `mcpbridge_rewrites_total{change="degrade-audio",route="default"} 1`) {
				t.Errorf("metrics at %q:\n%s", page, text)
			}
			if told := strings.Contains(s.out.String(), listen+" is taken"); told != (name == "taken") {
				t.Errorf("the page says that %s is taken: %v", listen, told)
			}
			s.stop <- syscall.SIGINT
			if got := <-code; got != 0 || !strings.HasSuffix(s.out.String(), "\nStopped.\n") || s.err.String() != "" {
				t.Errorf("exit code %d, stderr:\n%s", got, s.err)
			}
		})
	}
}

func TestDemoCommandLines(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"argument":      {[]string{"x"}, exitUsage, "unknown command"},
		"level":         {[]string{"--log-level", "loud"}, exitUsage, `--log-level: "loud" is not known`},
		"address":       {[]string{"--listen", "5"}, exitUsage, `--listen: "5" is not an address`},
		"not our own":   {[]string{"--listen", "192.0.2.1:80"}, exitFailure, "choose another with --listen"},
		"once and here": {[]string{"--once", "--listen", "192.0.2.1:80"}, exitFailure, "choose another with --listen"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSurroundings(nil)
			if code := run(append([]string{"demo"}, tc.args...), s.process()); code != tc.code || !strings.Contains(s.err.String(), tc.want) {
				t.Errorf("exit code %d, stderr:\n%s", code, s.err)
			}
		})
	}
}

// closedPipe is a reader that has gone.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestDemoThatCannotPrint(t *testing.T) {
	s := newSurroundings(nil)
	p := s.process()
	p.out = closedPipe{}
	if code := run([]string{"demo"}, p); code != exitFailure || !strings.Contains(s.err.String(), "demo: printing: ") {
		t.Errorf("exit code %d, stderr:\n%s", code, s.err)
	}
}
