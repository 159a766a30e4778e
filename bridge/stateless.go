package bridge

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// modern answers an exchange of a stateless revision; nil says that it is of
// a handshake revision. The era is told by each message, never remembered:
// one client may speak both.
func (b *Bridge) modern(ctx context.Context, x *transports.Exchange, way *road) *transports.Reply {
	served := b.served()
	if len(served) == 0 {
		return nil
	}
	header := negotiate.IsStateless(x.Version, served)
	if x.Frame.Batch {
		return b.modernBatch(x, header)
	}
	m := x.Frame.Items[0].Message
	if m == nil {
		return nil
	}
	claims := negotiate.Claims(m)
	var r transports.Reply
	switch {
	case m.Method == mcp.Initialize && m.Kind == mcp.Request:
		return b.modernInitialize(m, claims, header)
	case m.IsAnswer():
		return nil
	case m.Kind == mcp.Notification:
		if x.Session != "" || !claims && !header {
			return nil
		}
		// There is no session in which it could mean anything.
		r = transports.Reply{Status: http.StatusAccepted}
	case claims:
		r = b.serveModern(ctx, x, m, way)
	case header && x.Session == "":
		r = b.refuse(http.StatusBadRequest, mcp.Errorf(mcp.CodeInvalidParams, "params._meta[%q] is missing", mcp.MetaVersion), m.ID)
	default:
		return nil
	}
	return &r
}

// served lists the stateless versions for which requests are served.
func (b *Bridge) served() []mcp.Version {
	return slices.DeleteFunc(slices.Clone(b.ClientVersions), func(v mcp.Version) bool {
		return b.Ladder.Traits(v).Opening == mcp.Initialize
	})
}

// handshakes lists the versions that a handshake may agree on, oldest first.
func (b *Bridge) handshakes() []mcp.Version {
	return slices.DeleteFunc(slices.Clone(b.ClientVersions), func(v mcp.Version) bool {
		return b.Ladder.Traits(v).Opening != mcp.Initialize
	})
}

func (b *Bridge) modernBatch(x *transports.Exchange, header bool) *transports.Reply {
	claims := slices.ContainsFunc(x.Frame.Items, func(i mcp.Item) bool { return negotiate.Claims(i.Message) })
	if !claims && !(header && x.Session == "") {
		return nil
	}
	b.Observer.Batched(mcp.Client, len(x.Frame.Items), false)
	r := b.refuse(http.StatusBadRequest, mcp.Errorf(mcp.CodeInvalidRequest, "the protocol version has no batches; send each request alone"), mcp.ID{})
	return &r
}

// modernInitialize: only a request that is stateless in header and body is
// answered that there is no handshake; anything else is one.
func (b *Bridge) modernInitialize(m *mcp.Message, claims, header bool) *transports.Reply {
	var r transports.Reply
	switch {
	case claims && header:
		r = b.refuse(http.StatusNotFound, mcp.Errorf(mcp.CodeMethodNotFound, "Method not found: this revision has no handshake"), m.ID)
	case header:
		r = b.refuse(http.StatusBadRequest, mcp.Errorf(mcp.CodeHeaderMismatch, "the header MCP-Protocol-Version names a revision without handshake"), m.ID)
	default:
		return nil
	}
	return &r
}

// serveModern serves one request that stands for itself.
func (b *Bridge) serveModern(ctx context.Context, x *transports.Exchange, m *mcp.Message, way *road) transports.Reply {
	b.Observer.Received(mcp.Client, m.Kind, m.Method)
	if p := negotiate.CheckStateless(x.Header, m, b.served()); p != nil {
		return b.notServed(p, m)
	}
	if m.Method == mcp.Listen && !x.Events {
		return b.refuse(http.StatusNotAcceptable, mcp.Errorf(mcp.CodeInvalidRequest, "a listen is answered by an event stream; accept text/event-stream"), m.ID)
	}
	stream := b.newStream()
	r := &standing{bridge: b, ctx: ctx, x: x, who: b.principalOf(proofOf(x)), anonymous: proofOf(x).anonymous(), turn: NewTurn(stream, x.Events), way: way}
	if refusal := r.enter(m); refusal != nil {
		return *refusal
	}
	r.turn.again, r.turn.elsewhere = r.again, r.elsewhere
	r.serve(m)
	if m.Method == mcp.Listen {
		r.expire(x.Speaker)
	}
	context.AfterFunc(ctx, func() { // leaving the stream cancels
		r.abandon()
		r.leave()
	})
	return transports.Reply{Status: http.StatusOK, Stream: stream, StatusOf: r.status}
}

// notServed refuses a request that stands for itself. Another upstream of the
// route may serve its version.
func (b *Bridge) notServed(p *negotiate.Problem, m *mcp.Message) transports.Reply {
	r := b.refuse(p.Status, &p.Error, m.ID)
	r.Unopened = p.Code == mcp.CodeBadVersion
	return r
}

// serveOne hands a request that stands for itself to the conversation, and calls
// handed before the request can be answered.
func (c *conversation) serveOne(m *mcp.Message, turn *Turn, header http.Header, handed func()) {
	m.Header = c.headers.keep(header, c.bridge)
	keepParams(m.Header, header)
	c.complete()
	c.Session.Hold(turn)
	_, effects := c.Session.FromClient(m, turn, time.Now())
	handed()
	c.do(effects)
	c.Session.Release(turn)
}

// keepParams passes on the headers that repeat arguments: who they mean
// something to is not known here.
func keepParams(to, from http.Header) {
	for name, values := range from {
		if strings.HasPrefix(name, mcp.HeaderParam) {
			to[name] = values
		}
	}
}

// statusOf returns the HTTP status of an answer: a stateless revision repeats
// some codes there. What a tool or prompt says of itself is no missing method.
func (b *Bridge) statusOf(c *conversation, m *mcp.Message) int {
	if m.Kind != mcp.Failure {
		return http.StatusOK
	}
	code := m.Code()
	_, server := c.Session.Peers()
	inside := m.Method == mcp.ToolsCall || m.Method == mcp.PromptsGet || m.Method == mcp.ResourcesRead || m.Method == mcp.Complete
	if code == mcp.CodeMethodNotFound && inside && (c.stateless || rewrite.Offers(server, m.Method)) {
		return http.StatusOK
	}
	if code == mcp.CodeInvalidParams && m.Body.Object("data").Text("reason") == rewrite.InvalidState {
		return http.StatusBadRequest
	}
	if status, ok := b.Ladder.Traits(c.pair.Client).Status[code]; ok {
		if code == mcp.CodeNeedsCapability && c.quirk(rewrite.AnswerNeedsCapabilityWith200) {
			return http.StatusOK
		}
		return status
	}
	return http.StatusOK
}
