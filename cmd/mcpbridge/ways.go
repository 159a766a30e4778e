package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/internal/route"
)

// way is one of the upstreams of a lane, at work.
type way struct {
	bridge.Way
	server   configs.Route // what it was made of
	keys     []string
	upstream upstreamClient
	ready    func(context.Context) error
}

// newWays makes the upstreams of a route. Those before that serve the same are
// kept: their weights and rules are no part of them.
func newWays(r configs.Route, c common, before []way) (ways []way, err error) {
	upstreams := r.Branches()
	if len(upstreams) == 0 {
		upstreams = []configs.Upstream{{Branch: route.Branch{Weight: 1}, Server: r}}
	}
	var opened []way
	defer func() {
		for _, w := range opened {
			if err != nil {
				_ = w.Bridge.Close(context.Background()) // it has served nobody
			}
		}
	}()
	for _, u := range upstreams {
		w := way{Way: bridge.Way{Branch: u.Branch}, server: serverOf(u), keys: c.keys}
		i := slices.IndexFunc(before, func(b way) bool { return u.Name != "" && b.Name == u.Name && b.serves(w) })
		if i >= 0 {
			w.Bridge, w.upstream, w.ready = before[i].Bridge, before[i].upstream, before[i].ready
		} else if err = w.open(c); err != nil {
			return nil, err
		} else {
			opened = append(opened, w)
		}
		ways = append(ways, w)
	}
	return ways, nil
}

// serverOf returns what the bridge of an upstream is made of. Where clients find
// the route is no part of it.
func serverOf(u configs.Upstream) configs.Route {
	s := u.Server
	if u.Name != "" {
		s.Path, s.SSEPath, s.MessagePath, s.WSPath = "", "", "", ""
	}
	return s
}

func (w way) serves(as way) bool { return w.server.Equal(as.server) && slices.Equal(w.keys, as.keys) }

// open makes the bridge of an upstream. What one of several seals is for itself.
func (w *way) open(c common) (err error) {
	if w.Name != "" {
		c.share = w.Name
		c.log = c.log.With().Str("branch", w.Name).Logger()
		keys := make([]string, len(c.keys))
		for i, key := range c.keys {
			keys[i] = key + "\x00" + w.Name
		}
		c.keys = keys
	}
	if w.Bridge, w.upstream, err = newBridge(w.server, c); err != nil {
		if w.Name != "" {
			err = fmt.Errorf("upstream %s: %w", w.Name, err)
		}
		return err
	}
	w.ready = readiness(w.Bridge, w.upstream)
	return nil
}

// explainUpstreams words whom each of several upstreams takes.
func explainUpstreams(r configs.Route) (lines []string) {
	total := 0
	for _, u := range r.Upstreams {
		if !u.Rule.Given() {
			total += u.Weight
		}
	}
	for _, u := range r.Branches() {
		whom := "takes nobody"
		switch {
		case u.Rule.Given():
			whom = "takes clients with " + u.Rule.String()
		case u.Weight > 0:
			whom = fmt.Sprintf("takes %d of %d of the clients that no other is for", u.Weight, total)
		}
		lines = append(lines, fmt.Sprintf("%s %s. %s %s %s", u.Name, whom, explainUpstream(u.Server), explainVersions(u.Server), explainCredentials(u.Server)))
	}
	return lines
}

// planOf is what the fork of a lane chooses by.
func planOf(ways []way, c common) bridge.Plan {
	p := bridge.Plan{Chosen: c.metrics.Chosen, Unopened: c.metrics.Unopened, Log: c.log}
	for _, w := range ways {
		p.Ways = append(p.Ways, w.Way)
	}
	return p
}

// follow puts the upstreams to work.
func (l *lane) follow(ways []way) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ways = ways
	for _, w := range ways {
		l.upstreams[w.Bridge] = w.upstream
	}
}

// isReady asks all upstreams that take anybody at once: a lane is ready while
// one of them is.
func (l *lane) isReady(ctx context.Context) error {
	l.mu.Lock()
	ways := slices.DeleteFunc(slices.Clone(l.ways), func(w way) bool { return w.Weight == 0 && !w.Rule.Given() })
	l.mu.Unlock()
	errs := make([]error, len(ways))
	_ = together(len(ways), func(i int) error { // the errors are told apart
		if errs[i] = ways[i].ready(ctx); errs[i] != nil && ways[i].Name != "" {
			errs[i] = fmt.Errorf("%s: %w", ways[i].Name, errs[i])
		}
		return nil
	})
	if slices.Contains(errs, nil) {
		return nil
	}
	return errors.Join(errs...)
}
