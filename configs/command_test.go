package configs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/configs"
)

func TestValidateCommand(t *testing.T) {
	for name, tc := range map[string]struct {
		set         func(*configs.Config)
		field, text string // "" is valid
	}{
		"command": {func(*configs.Config) {}, "", ""},
		"everything": {func(c *configs.Config) {
			c.Command.Env, c.Command.InheritEnv, c.Command.Dir = []string{"A=b=c", "B="}, []string{"all"}, "/"
		}, "", ""},
		"and a URL":        {func(c *configs.Config) { c.Upstream = "http://a/mcp" }, "upstream", "give one of them"},
		"and a header":     {func(c *configs.Config) { c.Headers.Set("X-Key", "secret") }, "header", "takes no headers"},
		"and credentials":  {func(c *configs.Config) { c.Credentials = "none" }, "credentials", "takes none"},
		"and a transport":  {func(c *configs.Config) { c.UpstreamTransport = configs.TransportSSE }, "upstream_transport", "standard streams"},
		"no name":          {func(c *configs.Config) { c.Command.Args[0] = "" }, "command", "empty"},
		"variable without": {func(c *configs.Config) { c.Command.Env = []string{"secret"} }, "env", "NAME=VALUE"},
		"variable no name": {func(c *configs.Config) { c.Command.Env = []string{"=secret"} }, "env", "not the name"},
		"variable NUL":     {func(c *configs.Config) { c.Command.Env = []string{"A=secret\x00"} }, "env", "the value of A"},
		"inherited, =":     {func(c *configs.Config) { c.Command.InheritEnv = []string{"A=b"} }, "inherit_env", "not the name"},
		"variables alone":  {func(c *configs.Config) { c.Command = configs.Command{Env: []string{"A=b"}}; c.Upstream = "http://a/" }, "env", "no command"},
		"directory alone":  {func(c *configs.Config) { c.Command = configs.Command{Dir: "/"}; c.Upstream = "http://a/" }, "cwd", "no command"},
		"one for all":      {func(c *configs.Config) { c.StdioMode = configs.Shared }, "", ""},
		"unknown mode":     {func(c *configs.Config) { c.StdioMode = "one" }, "stdio_mode", "per-session, shared"},
		"mode alone": {func(c *configs.Config) {
			c.Command, c.StdioMode, c.Upstream = configs.Command{}, configs.Shared, "http://a/"
		}, "stdio_mode", "no command"},
		"standard streams":  {func(c *configs.Config) { c.Stdio, c.Listen = true, "" }, "", ""},
		"no streams either": {func(c *configs.Config) { c.Listen = "" }, "listen", "not an address"},
	} {
		t.Run(name, func(t *testing.T) {
			c := configs.Default()
			c.Command.Args = []string{"/usr/bin/server", "--token", "secret"}
			tc.set(&c)
			err := c.Validate(known)
			var p configs.Problems
			switch {
			case tc.field == "" && err == nil:
			case !errors.As(err, &p) || len(p) != 1 || p[0].Field != tc.field || !strings.Contains(p[0].Text, tc.text):
				t.Errorf("got %v", err)
			case strings.Contains(err.Error(), "secret"):
				t.Errorf("a secret is shown: %v", err)
			}
		})
	}
}

func TestUpstreamName(t *testing.T) {
	c := configs.Default()
	c.Upstream = "http://a/mcp?key=secret"
	if got := c.UpstreamName(); got != "http://a/mcp?..." {
		t.Errorf("got %s", got)
	}
	c.Upstream, c.Command.Args = "", []string{"/usr/bin/server", "secret"}
	if got := c.UpstreamName(); got != "server" {
		t.Errorf("got %s", got)
	}
}
