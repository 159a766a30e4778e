package bridge

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// sealer makes the request states that clients carry for the bridge. They can
// be neither read nor made elsewhere, and are worth something only to the
// principal for whom they were made. The first key seals and all of them open,
// so that keys can change; replicas that share them open each other's. Without
// a key one is drawn that lives as long as the process.
type sealer []cipher.AEAD

// sealMark is how a state of the bridge begins.
const sealMark = "v1."

// maxSealed bounds a state of the bridge's own, in bytes. One that wraps a
// server's is as long as that.
const maxSealed = 4096

func newSealer(secrets []string) sealer {
	if len(secrets) == 0 {
		secrets = []string{rand.Text() + rand.Text()} // 260 bits
	}
	all := make(sealer, len(secrets))
	for i, secret := range secrets {
		key, _ := hkdf.Key(sha256.New, []byte(secret), nil, "mcpbridge request state", 32) // a length that is allowed
		block, _ := aes.NewCipher(key)                                                     // as it is here
		all[i], _ = cipher.NewGCMWithRandomNonce(block)
	}
	return all
}

func (s sealer) seal(who principal, conversation, payload string) string {
	sealed := s[0].Seal(nil, nil, []byte(conversation+"\n"+payload), who[:])
	return sealMark + base64.RawURLEncoding.EncodeToString(sealed)
}

func (s sealer) open(who principal, state string) (conversation, payload string, ok bool) {
	if len(state) > maxSealed {
		return "", "", false
	}
	return s.unseal(who, state)
}

func (s sealer) unseal(who principal, state string) (conversation, payload string, ok bool) {
	text, marked := strings.CutPrefix(state, sealMark)
	if !marked {
		return "", "", false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", "", false
	}
	for _, key := range s {
		if plain, err := key.Open(nil, nil, sealed, who[:]); err == nil {
			return strings.Cut(string(plain), "\n")
		}
	}
	return "", "", false
}

// deps are what the stages of the conversation need. Its states are of no
// other conversation; those that it wraps are of one principal.
func (c *conversation) deps(who principal) rewrite.Deps {
	d, sealer := c.bridge.Deps, c.bridge.sealer
	holder := c.holder(who)
	d.Seal = func(payload string) string { return sealer.seal(holder, c.id, payload) }
	d.Open = func(state string) (string, bool) {
		id, payload, ok := sealer.open(holder, state)
		return payload, ok && id == c.id
	}
	if c.bridge.Several && c.bridge.Credentials == mcp.CredentialsForward {
		who = holder // the server sees whose token it is, and judges a newer one
	}
	d.Wrap = func(payload string) string { return sealer.seal(who, "", payload) }
	d.Unwrap = func(state string) (string, bool) {
		id, payload, ok := sealer.unseal(who, state)
		return payload, ok && id == ""
	}
	return d
}

// holder is for whom the states of a conversation are made: a token's subject,
// since people may take longer to answer than a token lives. That a subject
// still speaks for the principal is asked when it comes back.
func (c *conversation) holder(who principal) principal {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owner.token && c.owner.principal == who {
		return c.owner.subject
	}
	return who
}

// resumed finds the conversation of a call to which a client comes back; the
// caller is counted as a user of it.
func (b *Bridge) resumed(ctx context.Context, x *transports.Exchange, who principal, m *mcp.Message) *pooled {
	asks := b.ownerOf(proofOf(x))
	if asks.principal != who { // a pipe speaks for itself
		asks = owner{principal: who}
	}
	b.pool.mu.Lock()
	p := b.parkedAt(asks, m)
	if p == nil {
		b.pool.mu.Unlock()
		return nil
	}
	p.users++
	known := p.key.principal == who
	b.pool.mu.Unlock()
	if known || b.renewed(ctx, x, p, who) {
		return p
	}
	b.leave(p)
	return nil
}

// parkedAt finds the conversation that a request state names, if it was made
// for who asks or for the subject of the token that is shown: a newer one may
// still have to be believed. It is called under the pool's lock.
func (b *Bridge) parkedAt(asks owner, m *mcp.Message) *pooled {
	if m.Body == nil {
		return nil
	}
	state := m.Body.Text("requestState")
	id, _, ok := b.sealer.open(asks.principal, state)
	if !ok && asks.token {
		id, _, ok = b.sealer.open(asks.subject, state)
	}
	for _, p := range b.pool.members {
		if ok && p.c != nil && p.c.id == id {
			return p
		}
	}
	return nil
}

// renewed hands a conversation over to who comes with a newer token of the
// same subject, if the upstream takes it there.
func (b *Bridge) renewed(ctx context.Context, x *transports.Exchange, p *pooled, who principal) bool {
	if !p.c.belongs(ctx, proofOf(x)) {
		return false
	}
	b.pool.hand(p, who)
	return true
}

// hand makes a conversation another principal's. Where that has one of the kind
// already, it serves until what is under way in it is over.
func (p *pool) hand(m *pooled, who principal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.members[m.key] != m {
		return // it ends
	}
	delete(p.members, m.key)
	m.key.principal = who
	if p.members[m.key] != nil {
		m.key.solo = rand.Text()
	}
	p.members[m.key] = m
}
