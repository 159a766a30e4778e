package main

import (
	"github.com/spf13/cobra"

	"github.com/mcpbridge/mcpbridge/configs"
)

const serveHelp = `Serve one MCP server to clients of any supported protocol version.

Clients connect to /mcp of the listener by Streamable HTTP, older ones to /sse
by HTTP+SSE, and others to /ws by WebSocket. Each session gets a conversation
of its own with the upstream, in the version that fits both best.
The upstream is a URL, or a command that speaks on its standard streams: then
each session gets a process of its own, which ends with it, or all share one
(--stdio-mode). Its standard error goes to the log. It gets the variables PATH,
HOME, USER, LANG and the like, and those of --env and --inherit-env.

A file says more, several servers for instance: --config. It is read again when
it changes, and on SIGHUP.

The command line of supergateway works too: write mcpbridge serve in its place
and give --outputTransport; the README has a table of what its flags do here.

Every flag can be given as an environment variable too, shown in brackets; the
flag wins. SIGINT or SIGTERM stops: calls under way have --drain-timeout to
end, a second signal ends them at once. Exit codes: 0 stopped, 1 failed, 2 wrong
usage.`

const serveExample = `  mcpbridge serve http://127.0.0.1:3000/mcp
  mcpbridge serve --upstream https://mcp.example.com/mcp --header-file secrets.headers
  mcpbridge serve http://127.0.0.1:3000/mcp --listen 127.0.0.1:9000 --admin off
  mcpbridge serve http://127.0.0.1:3000/mcp --strict --elicitation-fallback declare:decline
  mcpbridge serve --env LOG_LEVEL=warn --inherit-env API_TOKEN -- npx -y some-mcp-server
  mcpbridge serve --sse https://mcp.example.com/sse
  mcpbridge serve wss://mcp.example.com/ws
  mcpbridge serve --config mcpbridge.yaml
  MCPBRIDGE_UPSTREAM=http://127.0.0.1:3000/mcp mcpbridge serve`

func newServeCommand(p process) *cobra.Command {
	flags := newServeFlags()
	cmd := &cobra.Command{
		Use:     "serve [URL | -- COMMAND ARGS...]",
		Short:   "Serve one MCP server to clients of any supported version",
		Long:    serveHelp,
		Example: serveExample,
		Args:    urlOrCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := readVariables(cmd.Flags(), p.lookup)
			if err != nil {
				return err
			}
			if flags.file != "" {
				return serveFile(flags, g, args, p)
			}
			cfg, err := flags.config(g, args)
			if err != nil {
				return err
			}
			if cfg.Stdio {
				return serveStdio(cfg, p, flags.remarks(cfg, g))
			}
			return serve(cfg.config(), p, flags.remarks(cfg, g), nil, nil)
		},
	}
	flags.define(cmd.Flags())
	offerValues(cmd)
	return cmd
}

// serve runs until it is told to stop. The source, where there is one, is read
// again when it changes; loaded is what it said.
func serve(cfg configs.Config, p process, remarks []string, from *source, loaded *configs.Loaded) error {
	signals, release := p.signals()
	defer release()
	log, level := newLog(cfg.Server, p)
	warn(log, remarks)
	s, err := open(cfg, log, newEngine)
	if err != nil {
		return failure{err}
	}
	s.source, s.loaded, s.level = from, loaded, level
	s.counts.loaded.SetToCurrentTime()
	s.counts.watchLog(level)
	return s.run(signals)
}
