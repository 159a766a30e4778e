//go:build unix

package stdio_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/stdio"
)

// TestOddOutput has what servers print beside messages and around them: CRLF,
// blank lines, headers as of LSP (field report 88), noise and broken text.
func TestOddOutput(t *testing.T) {
	p, j := program(t, "server", nil)
	c := converse(t, p)
	c.open()
	for tool, want := range map[string]string{
		"crlf":       "crlf",
		"framed":     "framed",
		"noise":      "quiet",
		"cuts":       "≤\U0001F600",
		"not UTF-8":  "a\uFFFDb",
		"no version": `error: the answer of the upstream server cannot be read: the member jsonrpc must be "2.0"`,
		"malformed":  "error: the answer of the upstream server cannot be read: it is malformed",
		"pretty":     "",
	} {
		if got := c.call(tool); got != want {
			t.Errorf("%s: got %q", tool, got)
		}
	}
	for _, want := range []string{
		"noise: Azure DevOps MCP Server version : 1.0", "noise: - 3 tools", "noise: 42", `noise: {"level":30,"msg":"json log line"}`,
		"noise: []", "noise: Content-Length: ", "garbage: not JSON", "garbage: not JSON-RPC", "garbage: not UTF-8",
	} {
		j.await(t, want)
	}
	if got := len(j.all("garbage: not JSON-RPC")); got != 6 { // two objects, a string, a number, an empty array and an answer without version
		t.Errorf("%d lines counted as JSON of another kind: %q", got, j.all(""))
	}
}

// TestLargeLines has the sizes of field report 86, and a line above the limit.
func TestLargeLines(t *testing.T) {
	const limit = 8 << 20
	p, j := program(t, "server", func(s *stdio.Command) { s.MaxMessage = limit })
	c := converse(t, p)
	c.open()
	for size, ok := range map[string]bool{"65535": true, "65536": true, "65537": true, "1048577": true, "104857600": false} {
		m, err := c.ask(mcp.ToolsCall, `{"name":"large","size":`+size+`}`)
		switch {
		case err != nil:
			t.Fatalf("%s bytes: %v", size, err)
		case ok && textOf(m) != strings.Repeat("x", len(textOf(m))) || ok && len(textOf(m)) < 65535:
			t.Errorf("%s bytes: %.100q", size, textOf(m))
		case !ok && textOf(m) != "error: the answer of the upstream server cannot be read: it is larger than allowed":
			t.Errorf("%s bytes: %.100q", size, textOf(m))
		}
	}
	j.await(t, "garbage: too large")
	if got := c.call("crlf"); got != "crlf" {
		t.Errorf("after a line that was too long: %q", got)
	}
}

func TestComplaints(t *testing.T) {
	const token = "s3cr3t-token"
	p, j := program(t, "server", func(s *stdio.Command) { s.Env = append(s.Env, "TOKEN="+token) })
	c := converse(t, p)
	c.open()
	c.call("secret")
	j.await(t, "error: my token is [$TOKEN]")
	if got := c.call("complains"); got != "done" {
		t.Errorf("got %q", got)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	j.await(t, "more lines were left out")
	all := j.all("error: ")
	for _, line := range all {
		if len(line) > 5<<10 || strings.Contains(line, token) {
			t.Errorf("logged: %.200q", line)
		}
	}
	if len(all) > 5000 {
		t.Errorf("%d lines were logged of a flood", len(all))
	}
	if ended := j.all("ended: "); len(ended) > 0 {
		t.Errorf("an end that was asked for is reported: %q", ended)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("LC_TEST", "harmless")
	t.Setenv("TEST_SECRET", "kept back")
	t.Setenv("TEST_NAMED", "named")
	t.Setenv("TEST_WITHHELD", "ours")
	dir := t.TempDir()
	dir, _ = filepath.EvalSymlinks(dir)
	for name, tc := range map[string]struct {
		change     func(*stdio.Command)
		has, lacks []string
	}{
		"default": {func(*stdio.Command) {},
			[]string{"LC_TEST=harmless", "PATH=" + os.Getenv("PATH")}, []string{"TEST_SECRET=", "TEST_NAMED="}},
		"named": {func(s *stdio.Command) { s.Inherit = []string{"TEST_NAMED"} },
			[]string{"TEST_NAMED=named"}, []string{"TEST_SECRET="}},
		"all": {func(s *stdio.Command) {
			s.InheritAll, s.Withhold = true, func(n string) bool { return n == "TEST_WITHHELD" }
		}, []string{"TEST_NAMED=named", "TEST_SECRET=kept back"}, []string{"TEST_WITHHELD="}},
		"set": {func(s *stdio.Command) { s.Env = append(s.Env, "LC_TEST=mine", "A=b=c") },
			[]string{"LC_TEST=mine", "A=b=c"}, []string{"LC_TEST=harmless"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := program(t, "server", func(s *stdio.Command) { s.Dir = dir; tc.change(s) })
			c := converse(t, p)
			c.open()
			env := strings.Split(c.call("env"), "\n")
			for _, want := range tc.has {
				if !slices.Contains(env, want) {
					t.Errorf("the child lacks %s: %q", want, env)
				}
			}
			for _, bad := range tc.lacks {
				if slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, bad) }) {
					t.Errorf("the child has %s: %q", bad, env)
				}
			}
			if got := c.call("dir"); got != dir {
				t.Errorf("its directory is %s", got)
			}
		})
	}
}

func TestDialErrorsSayWhatToDo(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tc := range map[string]struct{ path, dir, want string }{
		"unknown":           {"no-such-command", "", "stdio: starting no-such-command: command not found; is it installed, and is its directory in PATH?"},
		"no file":           {filepath.Join(dir, "absent"), "", "stdio: starting absent: there is no such file"},
		"not executable":    {file("plain", "x", 0o600), "", "stdio: starting plain: permission denied; is it an executable file?"},
		"no program":        {file("text", "hello", 0o700), "", "stdio: starting text: it is neither a program"},
		"no interpreter":    {file("script", "#!/no/such/sh\n", 0o700), "", "interpreter that does not exist"},
		"no directory":      {"cat", filepath.Join(dir, "absent"), "does not exist"},
		"relative":          {"./text", dir, "stdio: starting text: it is neither a program"},
		"relative, missing": {"./absent", dir, "stdio: starting absent: there is no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := program(t, "server", func(s *stdio.Command) { s.Path, s.Dir = tc.path, tc.dir })
			_, err := p.Dial(t.Context())
			var failed *stdio.NotStarted
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v", err)
			}
			_, err = converse(t, p).ask(mcp.Initialize, `{}`)
			var unreachable *transports.Unreachable
			if !errors.As(err, &unreachable) {
				t.Errorf("a conversation fails with %v", err)
			}
			known := name != "no program" && name != "no interpreter" && name != "relative"
			if ready := p.Ready(t.Context()); known != (ready != nil) {
				t.Errorf("ready: %v", ready)
			}
		})
	}
}

func TestNothingStartsAfterClose(t *testing.T) {
	p, _ := program(t, "server", nil)
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Dial(t.Context()); err == nil {
		t.Error("a child was started")
	}
}
