package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/sse"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
	"github.com/mcpbridge/mcpbridge/transports/web"
	"github.com/mcpbridge/mcpbridge/transports/websocket"
)

// lane is a route at work.
type lane struct {
	host  *bridge.Fork
	guard *transports.Guard
	front *front
	signs *signpost

	streamable *streamable.Server
	events     *sse.Server
	sockets    *websocket.Server

	stream atomic.Pointer[string] // the path of the stream of HTTP+SSE

	mu        sync.Mutex
	upstreams map[*bridge.Bridge]upstreamClient
	ways      []way // that new conversations take
}

// newEngine joins the client side, the bridge and the server side of a route.
func newEngine(r configs.Route, c common) (engine, error) {
	login, err := newDiscovery(r, c)
	if err != nil {
		return engine{}, err
	}
	entrance, err := newEntrance(r, c, login)
	if err != nil {
		return engine{}, err
	}
	ways, err := newWays(r, c, nil)
	if err != nil {
		entrance.close()
		return engine{}, err
	}
	l := &lane{host: bridge.NewFork(c.keys, planOf(ways, c)), guard: c.guard, front: &front{guard: c.guard}, signs: &signpost{at: c.at}, upstreams: map[*bridge.Bridge]upstreamClient{}}
	l.follow(ways)
	limits := limitsOf(r, c)
	l.streamable = streamable.NewServer(l.host, c.guard, limits)
	l.events = sse.NewServer(l.host, c.guard, eventsOf(r, limits, l.host.Owns))
	l.sockets = websocket.NewServer(l.host, c.guard, socketsOf(r, limits))
	l.front.put(entrance, c.log)
	l.signs.now.Store(login)
	l.stream.Store(&r.SSEPath)
	bound := func(h http.Handler, path func() string) http.Handler {
		h = l.front.before(l.signs.before(h, path))
		if c.maxHeader == 0 {
			return h
		}
		return web.BoundHeader(c.maxHeader, h, limits)
	}
	return engine{
		endpoint: bound(l.streamable, nil), events: bound(l.events.Stream(), nil), sockets: bound(l.sockets, nil),
		messages: bound(l.events.Messages(), l.eventsPath),
		pipes:    l.host,
		ready:    l.isReady,
		leave: func() {
			l.events.Leave()
			l.sockets.Leave()
		},
		wait:   l.sockets.Wait,
		close:  l.close,
		change: l.change,
		holds:  l.holds,
		finish: l.host.Finish,
		settle: l.settle,
		pool:   l.host.Pool,
		login:  l.signs.now.Load,
	}, nil
}

func limitsOf(r configs.Route, c common) web.Limits {
	refused := func(status int) { c.metrics.Failed(mcp.Client, http.StatusText(status)) }
	return web.Limits{MaxBody: int64(r.MaxBody), MaxDepth: r.MaxDepth, KeepAlive: r.KeepAlive, Refused: refused, Limited: c.metrics.Limited}
}

// owns is the question whether a POST may speak for a session.
type owns = func(ctx context.Context, s transports.PipeSession, opened, now http.Header) bool

func eventsOf(r configs.Route, limits web.Limits, owns owns) sse.ServerConfig {
	return sse.ServerConfig{
		Limits: limits, StreamBytes: int(r.MaxQueuedBytes), StreamMessages: r.MaxQueuedMessages, MaxStreams: r.MaxSessions,
		MessagePath: r.MessagePath, BasePath: r.BasePath, Owns: owns,
	}
}

func socketsOf(r configs.Route, limits web.Limits) websocket.ServerConfig {
	return websocket.ServerConfig{
		MaxMessage: int(limits.MaxBody), MaxDepth: limits.MaxDepth,
		StreamBytes: int(r.MaxQueuedBytes), StreamMessages: r.MaxQueuedMessages, MaxSockets: r.MaxSessions,
		Refused: limits.Refused, Limited: limits.Limited,
	}
}

func (l *lane) eventsPath() string { return *l.stream.Load() }

// change implements the change of an engine.
func (l *lane) change(r configs.Route, c common) (commit func(), err error) {
	login, err := newDiscovery(r, c)
	if err != nil {
		return nil, err
	}
	entrance, err := newEntrance(r, c, login)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	before := l.ways
	l.mu.Unlock()
	ways, err := newWays(r, c, before)
	if err != nil {
		entrance.close()
		return nil, err
	}
	return func() {
		l.follow(ways)
		limits := limitsOf(r, c)
		l.streamable.Adjust(limits)
		l.events.Adjust(eventsOf(r, limits, l.host.Owns))
		l.sockets.Adjust(socketsOf(r, limits))
		l.front.put(entrance, c.log)
		l.signs.now.Store(login)
		l.stream.Store(&r.SSEPath)
		l.host.Follow(planOf(ways, c))
	}, nil
}

// holds implements the holds of an engine.
func (l *lane) holds(r *http.Request) bool {
	if session := r.Header.Get(mcp.HeaderSession); session != "" {
		return l.host.Holds(&transports.Exchange{Header: r.Header, Session: session})
	}
	return r.Method == http.MethodPost && l.events.Holds(r)
}

// settle implements the settle of an engine.
func (l *lane) settle(ctx context.Context) (used bool) {
	for _, b := range l.host.Settle() {
		_ = l.end(ctx, b) // its sessions are over
	}
	return l.host.InUse()
}

// close ends all sessions.
func (l *lane) close(ctx context.Context) error {
	defer l.front.close()
	bridges := l.host.Bridges()
	return together(len(bridges), func(i int) error { return l.end(ctx, bridges[i]) })
}

// together does n things at once and joins what went wrong.
func together(n int, do func(int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// end ends a bridge with its upstream.
func (l *lane) end(ctx context.Context, b *bridge.Bridge) error {
	l.mu.Lock()
	upstream := l.upstreams[b]
	delete(l.upstreams, b)
	l.mu.Unlock()
	err := b.Close(ctx)
	if child, ok := upstream.(child); ok { // wait for its processes, and kill those that do not end in time
		err = errors.Join(err, child.Close(ctx))
	}
	upstream.CloseIdleConnections()
	return err
}
