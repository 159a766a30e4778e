package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/transports/stdio"
)

const stdioHelp = `Be an MCP server on standard input and output, for a client that starts its
servers itself, and bridge it to the MCP server at a URL or one of a command.

Standard output carries nothing but the protocol; the log goes to standard
error. It ends when standard input ends: calls under way have a second to be
answered. SIGINT or SIGTERM stops, a second signal at once.

A command gets the variables PATH, HOME, USER, LANG and the like, and those of
--env and --inherit-env; what it writes to standard error goes to the log.

Every flag can be given as an environment variable too, shown in brackets; the
flag wins. Exit codes: 0 the client left or it was stopped, 1 failed, 2 wrong
usage.`

const stdioExample = `  mcpbridge stdio https://mcp.example.com/mcp --header-file secrets.headers
  mcpbridge stdio --upstream http://127.0.0.1:3000/mcp --log-level debug
  mcpbridge stdio --elicitation-fallback declare:decline -- npx -y some-mcp-server

  In a client's configuration:
  {"mcpServers": {"example": {"command": "mcpbridge", "args": ["stdio", "https://mcp.example.com/mcp"]}}}`

func newStdioCommand(p process) *cobra.Command {
	flags := newServeFlags()
	flags.Stdio, flags.Admin, flags.SSEPath, flags.WSPath = true, configs.AdminOff, configs.Off, configs.Off
	cmd := &cobra.Command{
		Use:     "stdio [URL | -- COMMAND ARGS...]",
		Short:   "Be the MCP server that a desktop client starts",
		Long:    stdioHelp,
		Example: stdioExample,
		Args:    urlOrCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := readVariables(cmd.Flags(), p.lookup)
			if err != nil {
				return err
			}
			cfg, err := flags.config(g, args)
			if err != nil {
				return err
			}
			return serveStdio(cfg, p, flags.remarks(cfg, g))
		},
	}
	flags.defineStdio(cmd.Flags())
	offerValues(cmd)
	return cmd
}

// defineStdio defines the flags of serve that make sense without an endpoint.
func (f *serveFlags) defineStdio(fs *pflag.FlagSet) {
	fs.SortFlags = false
	f.defineAdmin(fs)
	f.defineUpstream(fs)
	f.defineCommand(fs)
	f.defineTranslation(fs)
	f.defineLimits(fs)
	f.defineLog(fs)
	f.defineOthers(fs)
}

// serveStdio runs until the client leaves or it is told to stop.
func serveStdio(cfg single, p process, remarks []string) error {
	signals, release := p.signals()
	defer release()
	defer surviveBrokenPipes()()
	log, level := newLog(cfg.Server, p)
	warn(log, remarks)
	s, err := open(cfg.config(), log, newEngine)
	if err != nil {
		return failure{err}
	}
	s.level = level
	s.counts.watchLog(level)
	return s.runStdio(p, signals)
}

// surviveBrokenPipes turns a write to a client that left, which would end the
// process, into an error. To ignore the signal instead would make the children
// ignore it too.
func surviveBrokenPipes() (restore func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}

// runStdio serves the client on the standard streams until it leaves, a signal
// comes or the admin listener fails.
func (s *service) runStdio(p process, signals <-chan os.Signal) error {
	s.announce()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer s.closeSites()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	failed := make(chan error, 1)
	if s.admin != nil {
		wg.Go(func() { failed <- s.admin.serve() })
	}
	served := make(chan error, 1)
	go func() { // it may stay in a read of standard input
		r := s.cfg.Routes[0]
		served <- stdio.Serve(ctx, s.gateway.each()[0].engine.pipes, p.in, p.out, stdio.ServerConfig{
			MaxMessage: int(r.MaxBody), MaxDepth: r.MaxDepth,
			StreamBytes: int(r.MaxQueuedBytes), StreamMessages: r.MaxQueuedMessages,
			Limited: s.counts.of(r.Name).Limited,
		})
	}()
	var err error
	select {
	case err = <-served:
		s.log.Info().Msg("the client left")
	case sig := <-signals:
		s.log.Info().Str("signal", sig.String()).Msg("stopping")
		stop()
		if err = <-served; errors.Is(err, context.Canceled) {
			err = nil
		}
	case err = <-failed:
		stop()
		<-served
	}
	return s.part(err, signals)
}

// part ends the upstream's side. A signal ends it at once.
func (s *service) part(err error, signals <-chan os.Signal) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-signals:
			cancel()
		case <-done:
		}
	}()
	if problem := s.gateway.close(ctx); problem != nil {
		s.log.Warn().Str("cause", configs.Cause(problem)).Msg("not every session ended well")
	}
	if err != nil {
		return failure{err}
	}
	return nil
}
