package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// programVariable makes the test binary the program.
const programVariable = "TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// itself returns the flags and the command that start this program as the
// upstream of another.
func itself(args ...string) []string {
	return append([]string{"--env", programVariable + "=1", "--", os.Args[0]}, args...)
}

const opening = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05",` +
	`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

const calling = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}` + "\n"

func TestStdioBridges(t *testing.T) {
	for name, args := range map[string][]string{
		"a URL":     {"stdio", upstream(t).URL + "/mcp", "--header", "X-Key: secret"},
		"a command": append([]string{"stdio"}, itself("stdio", upstream(t).URL+"/mcp", "--header", "X-Key: secret")...),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSurroundings(nil)
			p := s.process()
			p.in = strings.NewReader(opening + calling)
			if code := run(args, p); code != 0 {
				t.Errorf("exit code %d:\n%s", code, s.err)
			}
			lines := strings.Split(strings.TrimSpace(s.out.String()), "\n")
			if len(lines) != 2 || !strings.Contains(lines[0], `"protocolVersion":"2024-11-05"`) ||
				!strings.Contains(lines[1], `{\"n\":9007199254740993,\"key\":\"secret\"}`) {
				t.Errorf("standard output:\n%s\nstandard error:\n%s", s.out, s.err)
			}
			if strings.Contains(s.err.String(), "secret") {
				t.Errorf("the log shows a header:\n%s", s.err)
			}
		})
	}
}

func TestStdioStopsBySignal(t *testing.T) {
	in, input := io.Pipe()
	defer input.Close()
	s := newSurroundings(nil)
	p := s.process()
	p.in = in
	code := make(chan int, 1)
	go func() {
		code <- run(append([]string{"stdio", "--admin", "127.0.0.1:0"}, itself("stdio", upstream(t).URL)...), p)
	}()
	var line struct{ Admin, Endpoint, Upstream string }
	if err := json.Unmarshal([]byte(s.err.await(t, `"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	if line.Endpoint != "standard input and output" || strings.Contains(line.Upstream, "/") {
		t.Errorf("it serves %+v", line)
	}
	io.WriteString(input, opening)
	s.out.await(t, "protocolVersion")
	if status, text := fetch(t, line.Admin+"readyz"); status != 200 {
		t.Errorf("readyz: %d %s", status, text)
	}
	if _, text := fetch(t, line.Admin); !strings.Contains(text, "standard input and output") {
		t.Errorf("the index: %s", text)
	}
	s.stop <- syscall.SIGTERM
	if got := <-code; got != 0 {
		t.Errorf("exit code %d:\n%s", got, s.err)
	}
}

func TestServeBridgesACommand(t *testing.T) {
	s := newSurroundings(map[string]string{"MCPBRIDGE_UPSTREAM": "http://127.0.0.1:1/not-this-one"})
	code := make(chan int, 1)
	go func() {
		args := []string{"serve", "--port", "0", "--admin", "127.0.0.1:0", "--log-level", "debug"}
		code <- run(append(args, itself("stdio", upstream(t).URL+"/mcp", "--header", "X-Key: s3cret")...), s.process())
	}()
	var line struct{ Endpoint, Admin string }
	if err := json.Unmarshal([]byte(s.err.await(t, `"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	s.err.await(t, "the command exists")
	c := &client{t: t, endpoint: line.Endpoint}
	if status, answer := c.initialize("2025-03-26"); status != 200 || !strings.Contains(answer, `"protocolVersion":"2025-03-26"`) {
		t.Errorf("initialize: %d %s", status, answer)
	}
	if _, answer := c.post(strings.TrimSpace(calling)); !strings.Contains(answer, `{\"n\":9007199254740993,\"key\":\"s3cret\"}`) {
		t.Errorf("tools/call: %s", answer)
	}
	s.err.await(t, "the server says on standard error") // the child's own log
	_, text := fetch(t, line.Admin+"metrics")
	if !strings.Contains(text, `server_transport="stdio"`) {
		t.Errorf("metrics do not name the transport:\n%s", text)
	}
	s.stop <- syscall.SIGTERM
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
	if strings.Contains(s.err.String(), "s3cret") {
		t.Errorf("the log shows the command's arguments:\n%s", s.err)
	}
}

func TestServeWithoutTheCommand(t *testing.T) {
	s := newSurroundings(nil)
	code := make(chan int, 1)
	go func() {
		code <- run([]string{"serve", "--port", "0", "--admin", "127.0.0.1:0", "--stdio", "no-such-command --x"}, s.process())
	}()
	var line struct{ Endpoint, Admin string }
	if err := json.Unmarshal([]byte(s.err.await(t, `"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	const want = "starting no-such-command: command not found; is it installed, and is its directory in PATH?"
	s.err.await(t, want)
	if status, text := fetch(t, line.Admin+"readyz"); status != 503 || !strings.Contains(text, want) {
		t.Errorf("readyz: %d %s", status, text)
	}
	if status, answer := (&client{t: t, endpoint: line.Endpoint}).initialize("2025-03-26"); status != 200 || !strings.Contains(answer, "no-such-command could not be started: command not found") {
		t.Errorf("initialize: %d %s", status, answer)
	}
	s.stop <- syscall.SIGTERM
	<-code
}
