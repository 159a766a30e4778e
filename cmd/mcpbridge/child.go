package main

import (
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/metrics"
	"github.com/mcpbridge/mcpbridge/transports/stdio"
)

// child is an MCP server that the bridge starts, once for each session.
type child struct{ *stdio.Program }

func newChild(r configs.Route, m *metrics.Metrics, log zerolog.Logger) child {
	c := r.Command
	all := func(name string) bool { return name == configs.InheritAll }
	return child{stdio.NewCommand(stdio.Command{
		Path: c.Args[0], Args: c.Args[1:], Dir: c.Dir,
		Env:        c.Env,
		Inherit:    slices.DeleteFunc(slices.Clone(c.InheritEnv), all),
		InheritAll: slices.ContainsFunc(c.InheritEnv, all),
		Withhold:   isOwnVariable,
		MaxMessage: int(r.MaxBody),
		Log: func(pid int, line string) {
			log.Info().Int("pid", pid).Str("line", line).Msg("the server says on standard error")
		},
		Noise: func(pid int, text string) {
			log.Debug().Int("pid", pid).Str("line", text).Msg("the server wrote something that is no message")
		},
		Ended: func(how *stdio.Ended) {
			m.Failed(mcp.Server, "process_ended")
			log.Warn().Int("pid", how.PID).Str("command", how.Command).Str("state", how.State).Str("line", how.LastLine).
				Msg("the server ended by itself")
		},
		Garbage: garbage(m),
	})}
}

// isOwnVariable reports a variable that configures the bridge: it may hold a
// credential of another upstream.
func isOwnVariable(name string) bool { return strings.HasPrefix(strings.ToUpper(name), "MCPBRIDGE_") }

// CloseIdleConnections implements upstreamClient: a child has none.
func (c child) CloseIdleConnections() {}
