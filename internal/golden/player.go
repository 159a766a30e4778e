package golden

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// player is a transcript in progress.
type player struct {
	link    *bridge.Link
	clients map[string]*client
	names   []string
	now     time.Time
	sent    map[int64]underway // requests that the server has, by the bridge's id
	push    *pushing
	books   *books
	out     []string
	heard   *listener
}

// client is one scripted client and its session.
type client struct {
	name    string
	session *bridge.Session
	turns   []*turn
}

type turn struct {
	name  string
	turn  *bridge.Turn
	key   mcp.CallKey
	ended bool
}

type underway struct {
	client *client
	key    mcp.CallKey
}

type pushing struct {
	client *client
	effect bridge.Effect
}

// sealing makes states of a client that can be read in a transcript.
func sealing(d rewrite.Deps, client string) rewrite.Deps {
	const mark = "sealed:"
	d.Seal = func(payload string) string { return mark + payload }
	d.Open = func(state string) (string, bool) { return strings.CutPrefix(state, mark) }
	d.Wrap = func(payload string) string { return client + "'s:" + payload }
	d.Unwrap = func(state string) (string, bool) { return strings.CutPrefix(state, client+"'s:") }
	return d
}

func newPlayer(s Setup, ladder rewrite.Ladder, d rewrite.Deps) *player {
	p := &player{
		link: bridge.NewLink(), clients: map[string]*client{}, sent: map[int64]underway{},
		now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), books: newBooks(), heard: &listener{},
	}
	for _, name := range []string{"client", "client2"} {
		c := &client{name: name, session: bridge.NewSession(p.link, p.heard, s.Ready)}
		c.session.Build(ladder, rewrite.Facing{Client: s.Client, Server: s.Server, Options: s.Options, Routed: s.Routed, Headless: s.Headless, OneCredential: s.OneCredential}, sealing(d, name))
		p.clients[name] = c
		p.names = append(p.names, name)
	}
	return p
}

// step performs one step and returns its outputs.
func (p *player) step(line string) ([]string, error) {
	p.out = nil
	head, rest, _ := strings.Cut(line, " ")
	var err error
	switch {
	case head == "wait":
		err = p.wait(rest)
	case strings.HasPrefix(head, "client"):
		err = p.fromClient(p.clients[strings.TrimSuffix(head, ">")], rest)
	default:
		err = p.fromServer(strings.TrimSuffix(strings.TrimPrefix(head, "server"), ">"), rest)
	}
	p.drain()
	p.out = append(p.out, p.heard.take()...)
	return p.out, err
}

func (p *player) wait(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	until := p.now.Add(d)
	for {
		var next *client
		var due time.Time
		for _, name := range p.names {
			if at := p.clients[name].session.Due(); !at.IsZero() && !at.After(until) && (next == nil || at.Before(due)) {
				next, due = p.clients[name], at
			}
		}
		if next == nil {
			p.now = until
			return nil
		}
		if due.After(p.now) {
			p.now = due
		}
		p.perform(next, next.session.Expire(p.now))
		p.drain()
	}
}

func (p *player) fromClient(c *client, text string) error {
	if c == nil {
		return fmt.Errorf("no such client")
	}
	if n, leaves := strings.CutPrefix(text, "close "); leaves {
		return p.closeTurn(c, n)
	}
	t := &turn{name: strconv.Itoa(len(c.turns) + 1)}
	t.turn = bridge.NewTurn(transports.NewStream(1<<20), true)
	c.turns = append(c.turns, t)
	if text == "GET" {
		t.name = "get"
		p.perform(c, c.session.Listen(t.turn, p.now))
		return nil
	}
	m, err := mcp.DecodeMessage([]byte(text))
	if err != nil {
		return err
	}
	p.books.clientSent(c.name, t.name, m)
	key, effects := c.session.FromClient(m, t.turn, p.now)
	t.key = key
	p.perform(c, effects)
	return nil
}

// closeTurn is a client that leaves a response stream.
func (p *player) closeTurn(c *client, name string) error {
	for _, t := range c.turns {
		if t.name == name && !t.ended {
			t.turn.Stream.Abandon()
			t.ended = true
			p.books.clientLeft(c.name, name)
			p.perform(c, c.session.Abandon(t.turn, p.now))
			return nil
		}
	}
	return fmt.Errorf("no open turn %s", name)
}

func (p *player) fromServer(stream, text string) error {
	switch {
	case strings.HasPrefix(text, "GET "):
		if p.push == nil {
			return fmt.Errorf("the bridge asked for no GET")
		}
		push := p.push
		p.push = nil
		p.perform(push.client, push.client.session.Pushed(push.effect, text == "GET ok", p.now))
		return nil
	case strings.HasPrefix(text, "fail "):
		n, _ := strconv.ParseInt(strings.TrimPrefix(text, "fail "), 10, 64)
		u := p.sent[n]
		p.books.serverFailed(n)
		p.perform(u.client, u.client.session.Fail(u.key, mcp.Errorf(mcp.CodeInternal, "broken"), p.now))
		return nil
	}
	m, err := mcp.DecodeMessage([]byte(text))
	if err != nil {
		return err
	}
	p.books.serverSent(m)
	via := underway{client: p.clients["client"]}
	if stream != "" {
		n, _ := strconv.ParseInt(strings.Trim(stream, "[]"), 10, 64)
		via = p.sent[n]
	} else if s, _ := p.link.Owner(m); s != nil {
		for _, c := range p.clients {
			if c.session == s {
				via.client = c
			}
		}
	}
	if via.client == nil {
		return fmt.Errorf("the bridge sent no request %s", stream)
	}
	p.perform(via.client, via.client.session.FromServer(m, via.key, p.now))
	return nil
}

func (p *player) perform(c *client, effects []bridge.Effect) {
	for _, e := range effects {
		switch e.Verb {
		case bridge.Push:
			p.push = &pushing{client: c, effect: e}
			p.out = append(p.out, map[bool]string{true: ">server GET", false: ">server GET end"}[e.On()])
		case bridge.Abort:
			for n, u := range p.sent {
				if u.client == c && u.key == e.Call {
					p.out = append(p.out, fmt.Sprintf(">server abort %d", n))
				}
			}
		case bridge.Send:
			if n, ok := e.Msg.ID.Int(); ok && e.Msg.Kind == mcp.Request {
				p.sent[n] = underway{client: c, key: e.Call}
			}
			p.books.serverGot(e.Msg)
			line := ">server " + string(e.Msg.Bytes())
			for _, name := range slices.Sorted(maps.Keys(e.Msg.Header)) {
				line += " | " + name + ": " + e.Msg.Header.Get(name)
			}
			p.out = append(p.out, line)
		}
	}
}

// drain takes what waits on the clients' streams.
func (p *player) drain() {
	for _, name := range p.names {
		c := p.clients[name]
		for _, t := range c.turns {
			for !t.ended {
				d, ok := t.turn.Stream.Next()
				if !ok {
					break
				}
				if d.Message != nil {
					p.books.clientGot(c.name, t.name, d.Message)
					p.out = append(p.out, fmt.Sprintf(">%s[%s] %s", c.name, t.name, d.Message.Bytes()))
				}
				if d.Last {
					t.ended = true
					p.out = append(p.out, fmt.Sprintf(">%s[%s] end", c.name, t.name))
				}
			}
		}
	}
}
