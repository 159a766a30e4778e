package configs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/configs"
)

func TestValidateCommand(t *testing.T) {
	for name, tc := range map[string]struct {
		set         func(*single)
		field, text string // "" is valid
	}{
		"command": {func(*single) {}, "", ""},
		"everything": {func(c *single) {
			c.Command.Env, c.Command.InheritEnv, c.Command.Dir = []string{"A=b=c", "B="}, []string{"all"}, "/"
		}, "", ""},
		"and a URL":        {func(c *single) { c.Upstream = "http://a/mcp" }, "upstream", "give one of them"},
		"and a header":     {func(c *single) { c.Headers.Set("X-Key", "secret") }, "headers", "takes no headers"},
		"and credentials":  {func(c *single) { c.Credentials = "none" }, "credentials", "takes none"},
		"and a transport":  {func(c *single) { c.UpstreamTransport = configs.TransportSSE }, "upstream_transport", "standard streams"},
		"no name":          {func(c *single) { c.Command.Args[0] = "" }, "command", "empty"},
		"variable without": {func(c *single) { c.Command.Env = []string{"secret"} }, "env", "NAME=VALUE"},
		"variable no name": {func(c *single) { c.Command.Env = []string{"=secret"} }, "env", "not the name"},
		"variable NUL":     {func(c *single) { c.Command.Env = []string{"A=secret\x00"} }, "env", "the value of A"},
		"inherited, =":     {func(c *single) { c.Command.InheritEnv = []string{"A=b"} }, "inherit_env", "not the name"},
		"variables alone":  {func(c *single) { c.Command = configs.Command{Env: []string{"A=b"}}; c.Upstream = "http://a/" }, "env", "no command"},
		"directory alone":  {func(c *single) { c.Command = configs.Command{Dir: "/"}; c.Upstream = "http://a/" }, "cwd", "no command"},
		"one for all":      {func(c *single) { c.StdioMode = configs.Shared }, "", ""},
		"unknown mode":     {func(c *single) { c.StdioMode = "one" }, "stdio_mode", "per-session, shared"},
		"mode alone": {func(c *single) {
			c.Command, c.StdioMode, c.Upstream = configs.Command{}, configs.Shared, "http://a/"
		}, "stdio_mode", "no command"},
		"standard streams":  {func(c *single) { c.Stdio, c.Listen = true, "" }, "", ""},
		"no streams either": {func(c *single) { c.Listen = "" }, "listen", "not an address"},
	} {
		t.Run(name, func(t *testing.T) {
			c := byDefault()
			c.Command.Args = []string{"/usr/bin/server", "--token", "secret"}
			tc.set(&c)
			err := c.Validate(known)
			var p configs.Problems
			switch {
			case tc.field == "" && err == nil:
			case !errors.As(err, &p) || len(p) != 1 || p[0].Path != tc.field || !strings.Contains(p[0].Text, tc.text):
				t.Errorf("got %v", err)
			case strings.Contains(err.Error(), "secret"):
				t.Errorf("a secret is shown: %v", err)
			}
		})
	}
}

func TestUpstreamName(t *testing.T) {
	c := byDefault()
	c.Upstream = "http://a/mcp?key=secret"
	if got := c.UpstreamName(); got != "http://a/mcp?..." {
		t.Errorf("got %s", got)
	}
	c.Upstream, c.Command.Args = "", []string{"/usr/bin/server", "secret"}
	if got := c.UpstreamName(); got != "server" {
		t.Errorf("got %s", got)
	}
}
