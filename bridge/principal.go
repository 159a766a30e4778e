package bridge

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// principal is who a request speaks for: a keyed hash of the credentials it
// carries. The key is drawn at start, so that a principal means nothing
// outside of this process.
type principal [sha256.Size]byte

// principalOf hashes what a client proves itself with. Clients without
// credentials share one principal: what separates them is that session ids
// cannot be guessed.
func (b *Bridge) principalOf(h http.Header) principal {
	return b.hash(h.Values("Authorization")...)
}

// subjectOf hashes issuer and subject of a JSON Web Token; ok is false for any
// other credential. The claims are not verified here: they only say whether it
// is worth asking the upstream, which does verify them.
func (b *Bridge) subjectOf(h http.Header) (p principal, ok bool) {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	parts := strings.Split(token, ".")
	if !strings.EqualFold(scheme, "Bearer") || len(parts) != 3 {
		return p, false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return p, false
	}
	raw, err := mcp.ParseRaw(text)
	if err != nil {
		return p, false
	}
	claims, isObject := mcp.ParseObject(raw)
	if !isObject || claims.Text("iss") == "" || claims.Text("sub") == "" {
		return p, false
	}
	return b.hash("token", claims.Text("iss"), claims.Text("sub")), true
}

func (b *Bridge) hash(values ...string) principal {
	mac := hmac.New(sha256.New, b.salt[:])
	for _, v := range values {
		_, _ = mac.Write([]byte(v))
		_, _ = mac.Write([]byte{0})
	}
	return principal(mac.Sum(nil))
}

// owner is whom a session belongs to.
type owner struct {
	principal principal
	subject   principal
	token     bool // subject is set
}

func (b *Bridge) ownerOf(h http.Header) owner {
	o := owner{principal: b.principalOf(h)}
	o.subject, o.token = b.subjectOf(h)
	return o
}

// belongs reports whether an exchange speaks for the session's owner. A
// renewed token does, if it names the same issuer and subject and the upstream
// takes it on this very session: a ping asks it. A server that sees no
// credentials with a message cannot say so.
func (c *conversation) belongs(ctx context.Context, h http.Header) bool {
	now := c.bridge.ownerOf(h)
	c.mu.Lock()
	was := c.owner
	c.mu.Unlock()
	if was.principal == now.principal {
		return true
	}
	renewed := was.token && now.token && was.subject == now.subject
	if !renewed || !transports.IsHeaded(c.wire) || c.bridge.Credentials != mcp.CredentialsForward || !c.accepts(ctx, h) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owner.subject != now.subject {
		return false
	}
	c.owner = now
	return true
}

// accepts asks the upstream whether it takes these credentials, by what changes
// nothing there.
func (c *conversation) accepts(ctx context.Context, h http.Header) bool {
	ctx, cancel := context.WithTimeout(ctx, noticeTimeout)
	defer cancel()
	question := mcp.NewRequest(mcp.Ping, nil)
	if c.stateless { // which has no ping
		client, server := c.Session.Peers()
		question = mcp.NewRequest(mcp.Discover, stamps(server.Version, client.Info, mcp.NewObject()))
	}
	question.Header = endToEnd(h, c.bridge.Credentials)
	_, _, err := c.ask(ctx, question, false)
	return err == nil
}
