package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/internal/admin"
	"github.com/mcpbridge/mcpbridge/internal/oauth"
	"github.com/mcpbridge/mcpbridge/transports"
)

// gateway serves all routes of a configuration, and can be given another one.
type gateway struct {
	build  engineBuilder
	guard  *transports.Guard    // nil without an endpoint
	admit  func(configs.Server) // tells the guards who may come
	counts *counters
	log    zerolog.Logger
	// leaving ends when the bridge stops; stop ends it.
	leaving context.Context
	stop    context.CancelFunc

	mu     sync.Mutex
	cfg    configs.Config
	routes map[string]*served // by name
	gone   []*served          // no longer configured, with sessions that go on
	table  atomic.Pointer[table]
	site   atomic.Pointer[oauth.Site]
}

// served is a route with what serves it.
type served struct {
	configs.Route
	engine
	past []string // paths at which clients of earlier configurations find it
}

func newGateway(build engineBuilder, counts *counters, log zerolog.Logger) *gateway {
	g := &gateway{build: build, counts: counts, log: log, admit: func(configs.Server) {}}
	g.leaving, g.stop = context.WithCancel(context.Background())
	return g
}

// open builds the engines of the first configuration.
func (g *gateway) open(cfg configs.Config) error {
	commit, err := g.prepare(cfg)
	if err != nil {
		return err
	}
	commit()
	return nil
}

// prepare builds what a configuration needs and returns what puts it to work.
// After an error everything is as before.
func (g *gateway) prepare(cfg configs.Config) (commit func(), err error) {
	routes := map[string]*served{}
	var commits []func()
	var built []engine
	defer func() {
		if err == nil {
			return
		}
		for _, e := range built {
			_ = e.close(context.Background()) // it has served nobody
		}
	}()
	keysChanged := !slices.Equal(cfg.SecretKeys, g.cfg.SecretKeys)
	for _, r := range cfg.Routes {
		c := common{guard: g.guard, metrics: g.counts.of(r.Name), log: g.logOf(r, cfg), keys: cfg.SecretKeys, at: g.at, clientCAFile: cfg.ClientCAFile, maxHeader: int(cfg.MaxHeader)}
		one := g.routes[r.Name]
		switch {
		case one == nil:
			e, err := g.build(r, c)
			if err != nil {
				return nil, fmt.Errorf("route %s: %w", r.Name, err)
			}
			e.endpoint = letGo(g.leaving, e.endpoint)
			built = append(built, e)
			routes[r.Name] = &served{Route: r, engine: e}
		case keysChanged || !one.Route.Equal(r):
			change, err := one.engine.change(r, c)
			if err != nil {
				return nil, fmt.Errorf("route %s: %w", r.Name, err)
			}
			commits = append(commits, change)
			routes[r.Name] = &served{Route: r, engine: one.engine, past: one.earlier()}
		default:
			routes[r.Name] = one
		}
	}
	return func() {
		for _, change := range commits {
			change()
		}
		g.commit(cfg, routes)
	}, nil
}

// at tells where a request reached the bridge, as its client sees it.
func (g *gateway) at(r *http.Request) oauth.At {
	if site := g.site.Load(); site != nil {
		return site.At(r)
	}
	return oauth.At{}
}

// logOf names the route where there are several.
func (g *gateway) logOf(r configs.Route, cfg configs.Config) zerolog.Logger {
	if len(cfg.Routes) == 1 && r.Name == configs.DefaultName {
		return g.log
	}
	return g.log.With().Str("route", r.Name).Logger()
}

func (g *gateway) commit(cfg configs.Config, routes map[string]*served) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, one := range g.routes {
		if routes[name] == nil {
			one.engine.finish()
			one.past = one.earlier()
			g.gone = append(g.gone, one)
			g.counts.ready.DeleteLabelValues(name)
		}
	}
	g.cfg, g.routes = cfg, routes
	if g.guard != nil {
		g.site.Store(newSite(cfg.Server, g.guard))
	}
	g.admit(cfg.Server)
	g.table.Store(newTable(cfg, routes, g.gone, g.site.Load()))
	g.counts.serving(routes)
}

// settle ends what nobody uses any more.
func (g *gateway) settle(ctx context.Context) {
	g.mu.Lock()
	var all []*served
	for _, one := range g.routes {
		all = append(all, one)
	}
	all = append(all, g.gone...)
	g.mu.Unlock()
	over := map[*served]bool{}
	for _, one := range all {
		if one.engine.settle != nil && !one.engine.settle(ctx) {
			over[one] = true
		}
	}
	if len(over) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var left []*served
	for _, one := range g.gone {
		if !over[one] {
			left = append(left, one)
		}
	}
	g.gone = left
	g.table.Store(newTable(g.cfg, g.routes, g.gone, g.site.Load()))
}

// each returns everything that serves.
func (g *gateway) each() []*served {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []*served
	for _, r := range g.cfg.Routes {
		all = append(all, g.routes[r.Name])
	}
	return append(all, g.gone...)
}

func (g *gateway) config() configs.Config {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cfg
}

// ServeHTTP implements http.Handler.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.table.Load().ServeHTTP(w, r) }

// leave ends streams that wait for nothing.
func (g *gateway) leave() {
	g.stop()
	for _, one := range g.each() {
		if one.engine.leave != nil {
			one.engine.leave()
		}
	}
}

// wait waits for the end of connections that are no HTTP any more.
func (g *gateway) wait(ctx context.Context) error {
	all := g.each()
	return together(len(all), func(i int) error {
		if all[i].engine.wait == nil {
			return nil
		}
		return all[i].engine.wait(ctx)
	})
}

// close ends all sessions.
func (g *gateway) close(ctx context.Context) error {
	all := g.each()
	return together(len(all), func(i int) error { return all[i].engine.close(ctx) })
}

// ready asks all upstreams.
func (g *gateway) ready(ctx context.Context) []admin.State {
	routes := g.config().Routes
	states := make([]admin.State, len(routes))
	_ = together(len(routes), func(i int) error { // what is wrong is in the states
		if len(routes) > 1 {
			states[i].Route = routes[i].Name
		}
		states[i].Err = g.readyOf(ctx, routes[i].Name)
		return nil
	})
	return states
}

func (g *gateway) readyOf(ctx context.Context, name string) error {
	g.mu.Lock()
	one := g.routes[name]
	g.mu.Unlock()
	if one == nil {
		return errors.New("there is no such route")
	}
	err := one.engine.ready(ctx)
	g.counts.found(name, err)
	return err
}
