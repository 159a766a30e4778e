package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpbridge/mcpbridge/configs"
)

const demoHelp = `Show what the bridge does, without any other program.

The demo starts a server of its own that does what older clients cannot take,
the bridge in front of it, and an old client. The client talks to the server
directly and through the bridge, and both conversations are shown. Then the
bridge keeps serving, so that a real client can be pointed at it.

With --once the demo ends after that; the exit code is 1 when anything came out
other than it should. Nothing leaves this machine.`

// demo is the command at work.
type demo struct {
	process
	cfg   single
	once  bool
	build engineBuilder
}

func newDemoCommand(p process) *cobra.Command {
	d := &demo{process: p, cfg: defaults(), build: newEngine}
	d.cfg.LogLevel = "warn"
	cmd := &cobra.Command{
		Use:     "demo",
		Short:   "Show what the bridge does, on a server and with a client of its own",
		Long:    demoHelp,
		Example: "  mcpbridge demo\n  mcpbridge demo --once\n  mcpbridge demo --listen 127.0.0.1:9000",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := readVariables(cmd.Flags(), p.lookup)
			if err != nil {
				return err
			}
			if err := d.configure(g); err != nil {
				return err
			}
			return d.run()
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&d.once, "once", false, "end after showing")
	fs.StringVar(&d.cfg.Listen, "listen", d.cfg.Listen, "`ADDR` to keep serving on; a free port when it is taken")
	fs.StringVar(&d.cfg.LogLevel, "log-level", d.cfg.LogLevel, "write the bridge's log lines of this `LEVEL` and above: "+oneOf(configs.LogLevels()))
	showVariables(fs)
	return cmd
}

// freePort is a loopback address with a port that the system chooses.
const freePort = "127.0.0.1:0"

// configure checks what was given. The upstream is known once it listens.
func (d *demo) configure(g given) error {
	d.cfg.Admin = freePort
	if d.once && g.strength("listen") != byFlag {
		d.cfg.Listen = freePort
	}
	checked := d.cfg
	checked.Upstream = "http://127.0.0.1" + endpointPath
	return explain(checked.config().Validate(knownVersions()), func(field string) string {
		return g.source(strings.ReplaceAll(field, "_", "-"))
	})
}

// run shows the demo and, unless it is to end then, serves until a signal.
func (d *demo) run() error {
	signals, release := d.signals()
	defer release()
	server, err := startDemoServer()
	if err != nil {
		return failure{err}
	}
	defer server.close()
	d.cfg.Upstream = server.url(endpointPath)
	s, note, err := d.open()
	if err != nil {
		return failure{err}
	}
	stop, ended := make(chan os.Signal, 2), make(chan error, 1)
	go func() { ended <- s.run(stop) }()
	err = d.show(s, note)
	if err != nil || d.once {
		stop <- os.Interrupt
	}
	ending := await(signals, stop, ended)
	if err != nil {
		return failure{errors.Join(err, ending)}
	}
	if !d.once && ending == nil {
		fmt.Fprintln(d.out, "\nStopped.") //nolint:errcheck // nobody is left who could mind
	}
	return ending
}

// await passes signals on until the service has ended.
func await(signals <-chan os.Signal, stop chan<- os.Signal, ended <-chan error) error {
	for {
		select {
		case sig := <-signals:
			select {
			case stop <- sig:
			default: // it was told twice already
			}
		case err := <-ended:
			return err
		}
	}
}

// open listens; where the address is taken it takes another port and returns
// a note that says so.
func (d *demo) open() (s *service, note string, err error) {
	log, _ := newLog(d.cfg.Server, d.process)
	if s, err = open(d.cfg.config(), log, d.build); err == nil {
		return s, "", nil
	}
	host, _, splitErr := net.SplitHostPort(d.cfg.Listen)
	if splitErr != nil {
		return nil, "", err
	}
	other := d.cfg
	other.Listen = net.JoinHostPort(host, "0")
	s, otherErr := open(other.config(), log, d.build)
	if otherErr != nil {
		return nil, "", err
	}
	return s, "a free port, as " + d.cfg.Listen + " is taken or not to be had; --listen chooses another", nil
}

// demoTime bounds the conversations, which take some milliseconds.
const demoTime = 10 * time.Second

// show holds both conversations and prints what came of them.
func (d *demo) show(s *service, note string) error {
	ctx, cancel := context.WithTimeout(context.Background(), demoTime)
	defer cancel()
	direct, err := converse(ctx, d.cfg.Upstream)
	if err != nil {
		return err
	}
	bridged, err := converse(ctx, s.endpoint.url(endpointPath))
	if err != nil {
		return err
	}
	counts, err := readCounts(ctx, s.admin.url("/metrics"))
	if err != nil {
		return err
	}
	page := newDemoPage(screen(d.process))
	page.intro(d.cfg.Upstream, s.endpoint.url(endpointPath), note)
	unmet := page.body(demoExhibits(direct, bridged), counts)
	if !d.once && unmet == nil {
		page.guide(s.endpoint.url(endpointPath), s.admin.url("/metrics"))
	}
	if _, err := io.WriteString(d.out, page.String()); err != nil {
		return fmt.Errorf("demo: printing: %w", err)
	}
	return unmet
}
