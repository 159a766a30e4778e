package bridge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// share lets all sessions of a bridge use one upstream conversation, for
// servers of which one process must do. Each session sees a conversation of
// its own: the handshake is answered from the one that really took place,
// subscriptions are counted, and what the server sends of its own accord goes
// to whom it concerns. A server that many clients share is told of no
// elicitation, sampling or roots: whom it asks nobody could tell. Only where
// there is a lane, in which the calls that may ask take turns, is it told of
// them.
type share struct {
	bridge *Bridge
	wire   transports.Upstream
	link   *Link
	lane   *lane // nil where nobody can be asked
	cancel context.CancelFunc
	ctx    context.Context

	opening sync.Mutex // held while the upstream conversation is opened

	mu      sync.Mutex
	alive   bool
	result  *mcp.Object // of the handshake
	version mcp.Version
	members map[*member]bool
	uris    map[string]int // subscriptions by the sessions that hold them
	level   mcp.Raw        // as the server was last told
}

// member is one session's view of the shared conversation.
type member struct {
	share  *share
	c      *conversation
	mu     sync.Mutex
	uris   map[string]bool
	level  int // index into levels; -1: never set
	listen *transports.Outgoing
	left   bool // it can be asked nothing; the lane guards it
}

func newShare(b *Bridge, wire transports.Upstream) *share {
	s := &share{bridge: b, wire: wire, link: NewLink(), members: map[*member]bool{}, uris: map[string]int{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if b.SharedInteractive {
		s.lane = newLane(b.RequestTimeout)
	}
	return s
}

// join returns the view of one more session.
func (s *share) join(c *conversation) transports.Upstream {
	return &member{share: s, c: c, uris: map[string]bool{}, level: -1}
}

// open makes sure that the upstream conversation exists.
func (s *share) open(ctx context.Context) (*mcp.Object, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.mu.Lock()
	result, alive := s.result, s.alive
	s.mu.Unlock()
	if alive {
		return result.Clone(), nil
	}
	if s.lane != nil {
		s.lane.reset()
	}
	s.wire.Reset()
	helper := s.conversation()
	versions := s.bridge.UpstreamVersions
	client := mcp.Peer{Version: versions[len(versions)-1], Info: helper.opening.Body.Object("clientInfo"), Capabilities: s.declared()}
	server, answer, _, err := helper.handshake(ctx, client)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.alive, s.version = true, server.Version
	s.result = answer.Body.Clone()
	s.result.Set("protocolVersion", mcp.Quote(string(server.Version)))
	s.mu.Unlock()
	if err := s.wire.Send(ctx, mcp.NewNotification(mcp.Initialized, nil), transports.Outgoing{Receive: func(*mcp.Message) {}}); err != nil {
		return nil, err
	}
	s.hearOut(ctx, helper)
	return s.result.Clone(), s.restore(ctx, helper)
}

// conversation returns a conversation that speaks for the bridge itself.
func (s *share) conversation() *conversation {
	c := &conversation{bridge: s.bridge, wire: s.wire, link: s.link, Session: NewSession(s.link, s.bridge.Observer, false)}
	c.opening = mcp.NewRequest(mcp.Initialize, mcp.MustObject(`{"capabilities":{},"clientInfo":{"name":"mcpbridge","version":"1"}}`))
	c.ctx, c.mute = s.ctx, true
	return c
}

// restore repeats what sessions had set up in the conversation before.
func (s *share) restore(ctx context.Context, helper *conversation) error {
	s.mu.Lock()
	k := kept{uris: map[string]bool{}}
	for uri := range s.uris {
		k.uris[uri] = true
	}
	if s.level != nil {
		k.level = levelParams(s.level)
	}
	s.mu.Unlock()
	for _, m := range k.requests() {
		if _, _, err := helper.ask(ctx, m, false); err != nil {
			return err
		}
	}
	return nil
}

func levelParams(level mcp.Raw) *mcp.Object {
	params := mcp.NewObject()
	params.Set("level", level)
	return params
}

// lost notes that the upstream conversation is gone.
func (s *share) lost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive = false
}

// listen hands out what the server sends of its own accord, until the
// conversation ends.
func (s *share) listen(open func()) {
	defer open()
	err := s.wire.Listen(s.ctx, transports.Outgoing{Receive: s.receive, Open: open})
	if !errors.Is(err, transports.ErrNoStream) {
		s.lost()
	}
}

// receive finds out whom a message concerns. Nothing about one session ever
// reaches another.
func (s *share) receive(m *mcp.Message) {
	switch {
	case m.Kind == mcp.Request && m.Method == mcp.Ping:
		s.reply(m.Answer(mcp.NewObject()))
	case m.Kind == mcp.Request && s.lane != nil:
		if !s.lane.ask(m) {
			s.reply(s.forNobody(m))
		}
	case m.Kind == mcp.Request:
		s.bridge.Observer.FellBack("shared", string(mcp.FallbackError))
		s.reply(m.Refuse(mcp.Errorf(mcp.CodeMethodNotFound, "many clients share this server: none of them can be asked")))
	case m.IsAnswer():
		if s.lane != nil {
			s.lane.settled(m)
		}
		s.bridge.Observer.Failed(mcp.Server, "unknown_response")
	case s.lane != nil && m.Method == mcp.Cancelled:
		s.lane.takenBack(m).deliver(m)
	case s.lane != nil && m.Method == mcp.ElicitationComplete:
		s.lane.completed(m.Body.Text("elicitationId")).deliver(m)
	default:
		for _, to := range s.concerned(m) {
			to.deliver(m)
		}
	}
}

func (s *share) reply(m *mcp.Message) {
	ctx, cancel := context.WithTimeout(s.ctx, noticeTimeout)
	defer cancel()
	if err := s.wire.Send(ctx, m, transports.Outgoing{Receive: func(*mcp.Message) {}}); err != nil {
		s.bridge.Observer.Failed(mcp.Server, reasonOf(err))
	}
}

// concerned returns the sessions that a notification is for.
func (s *share) concerned(m *mcp.Message) []*member {
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.members))
	s.mu.Unlock()
	owner, _ := s.link.Owner(m)
	if m.Method == mcp.LogMessage {
		owner = s.link.Only() // the only call there is must be what it is about
	}
	return slices.DeleteFunc(all, func(to *member) bool {
		switch m.Method {
		case mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged:
			return false
		case mcp.ResourceUpdated:
			return !to.subscribed(m.Body.Text("uri"))
		case mcp.LogMessage:
			return to.c.Session != owner || !to.wants(m.Body.Text("level"))
		}
		return to.c.Session != owner
	})
}

// deliver hands a copy to one session: each translates for its own client.
func (t *member) deliver(m *mcp.Message) {
	if t == nil {
		return
	}
	t.mu.Lock()
	out := t.listen
	t.mu.Unlock()
	if out == nil {
		return
	}
	c := *m
	c.Body = m.Body.Clone()
	out.Receive(&c)
}

// subscribed: a server may tell of a part of what was subscribed to.
func (t *member) subscribed(uri string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.uris[uri] {
		return true
	}
	for held := range t.uris {
		if strings.HasPrefix(uri, held) && (strings.HasSuffix(held, "/") || uri[len(held)] == '/') {
			return true
		}
	}
	return false
}

// Agree implements transports.Upstream: the handshake settled it for all.
func (t *member) Agree(mcp.Version, mcp.Traits) {}

// Reset implements transports.Upstream: the next handshake joins again.
func (t *member) Reset() {}

// Listen implements transports.Upstream.
func (t *member) Listen(ctx context.Context, o transports.Outgoing) error {
	t.mu.Lock()
	t.listen = &o
	t.mu.Unlock()
	if o.Open != nil {
		o.Open()
	}
	<-ctx.Done()
	return ctx.Err()
}

// Close implements transports.Upstream: the session leaves, the conversation
// goes on.
func (t *member) Close(ctx context.Context) error {
	t.share.mu.Lock()
	delete(t.share.members, t)
	t.share.mu.Unlock()
	if t.share.lane != nil {
		for _, m := range t.share.lane.part(t) {
			t.share.reply(abandoned(m))
		}
	}
	t.mu.Lock()
	t.listen = nil
	uris := slices.Sorted(maps.Keys(t.uris))
	t.mu.Unlock()
	for _, uri := range uris {
		if t.release(uri) {
			params := mcp.NewObject()
			params.Set("uri", mcp.Quote(uri))
			_, _, _ = t.share.conversation().ask(ctx, mcp.NewRequest(mcp.ResourcesUnsubscribe, params), false)
		}
	}
	return nil
}

// end closes the upstream conversation.
func (s *share) end(ctx context.Context) error {
	s.cancel()
	return s.wire.Close(ctx)
}

var _ transports.Upstream = (*member)(nil)
