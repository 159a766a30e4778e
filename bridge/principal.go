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

// principal is who a request speaks for: a keyed hash of whom it was verified
// to speak for, or else of the credentials it carries. The key is drawn at
// start, so that a principal means nothing outside of this process.
type principal [sha256.Size]byte

// proof is what a request shows of whom it speaks for.
type proof struct {
	header  http.Header
	speaker *transports.Speaker
}

func proofOf(x *transports.Exchange) proof { return proof{x.Header, x.Speaker} }

// verified returns whom the request was verified to speak for, "" where nobody
// did.
func (c proof) verified() string {
	if c.speaker == nil {
		return ""
	}
	return c.speaker.Principal
}

// anonymous reports a request that shows nothing.
func (c proof) anonymous() bool { return c.verified() == "" && c.header.Get("Authorization") == "" }

// principalOf hashes what a client proves itself with. Clients without
// credentials share one principal: what separates them is that session ids
// cannot be guessed.
func (b *Bridge) principalOf(c proof) principal {
	if who := c.verified(); who != "" {
		return b.hash("verified", who)
	}
	return b.credentialOf(c)
}

func (b *Bridge) credentialOf(c proof) principal {
	return b.hash(append([]string{"credential"}, c.header.Values("Authorization")...)...)
}

// subjectOf hashes issuer and subject of a JSON Web Token; ok is false for any
// other credential. The claims are not verified here: they only say whether it
// is worth asking the upstream, which does verify them.
func (b *Bridge) subjectOf(h http.Header) (p principal, ok bool) {
	issuer, subject, ok := claimsOf(h)
	if !ok {
		return p, false
	}
	return b.hash("token", issuer, subject), true
}

// claimsOf reads issuer and subject of a JSON Web Token, unverified.
func claimsOf(h http.Header) (issuer, subject string, ok bool) {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	parts := strings.Split(token, ".")
	if !strings.EqualFold(scheme, "Bearer") || len(parts) != 3 {
		return "", "", false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", "", false
	}
	raw, err := mcp.ParseRaw(text)
	if err != nil {
		return "", "", false
	}
	claims, isObject := mcp.ParseObject(raw)
	if !isObject || claims.Text("iss") == "" || claims.Text("sub") == "" {
		return "", "", false
	}
	return claims.Text("iss"), claims.Text("sub"), true
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
	principal  principal
	credential principal // what the upstream gets of it
	subject    principal
	token      bool // subject is set
}

func (b *Bridge) ownerOf(c proof) owner {
	o := owner{principal: b.principalOf(c)}
	if c.verified() != "" {
		o.credential = b.credentialOf(c)
		return o
	}
	o.credential = o.principal
	o.subject, o.token = b.subjectOf(c.header)
	return o
}

// belongs reports whether an exchange speaks for the session's owner. A
// renewed token does, if it names the same issuer and subject, or was verified
// to be the owner's, and the upstream takes it on this very session: a ping
// asks it. A server that sees no credentials with a message cannot say so, and
// one that gets none of the client's has nothing to say.
func (c *conversation) belongs(ctx context.Context, shown proof) bool {
	c.mu.Lock()
	was := c.owner
	c.mu.Unlock()
	sees := transports.IsHeaded(c.wire) && c.bridge.Credentials == mcp.CredentialsForward
	if was.principal == c.bridge.principalOf(shown) && (!sees || shown.verified() == "" || was.credential == c.bridge.credentialOf(shown)) {
		return true // nothing has changed
	}
	now := c.bridge.ownerOf(shown)
	renewed := c.bridge.Rebind || was.principal == now.principal || was.token && now.token && was.subject == now.subject
	if !renewed || !sees || !c.accepts(ctx, shown.header) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.bridge.Rebind && c.owner.subject != now.subject {
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
	question.Header = endToEnd(h, c.bridge.Credentials, c.bridge.Headers)
	_, _, err := c.ask(ctx, question, false)
	return err == nil
}
