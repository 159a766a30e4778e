package bridge

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// sealer makes the request states that clients carry for the bridge. They can
// be neither read nor made elsewhere, and are worth something only to the
// principal for whom they were made. The key lives as long as the process: so
// do the calls that the states are about.
type sealer struct{ aead cipher.AEAD }

// sealMark is how a state of the bridge begins.
const sealMark = "v1."

func newSealer() sealer {
	var key [32]byte
	_, _ = rand.Read(key[:])                       // never fails (crypto/rand)
	block, _ := aes.NewCipher(key[:])              // the key has a length that is allowed
	aead, _ := cipher.NewGCMWithRandomNonce(block) // as has the block
	return sealer{aead}
}

func (s sealer) seal(who principal, conversation, payload string) string {
	sealed := s.aead.Seal(nil, nil, []byte(conversation+"\n"+payload), who[:])
	return sealMark + base64.RawURLEncoding.EncodeToString(sealed)
}

func (s sealer) open(who principal, state string) (conversation, payload string, ok bool) {
	text, marked := strings.CutPrefix(state, sealMark)
	if !marked || len(text) > 4096 {
		return "", "", false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", "", false
	}
	plain, err := s.aead.Open(nil, nil, sealed, who[:])
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(plain), "\n")
}

// deps are what the stages of the conversation need. Its states are of no
// other conversation.
func (c *conversation) deps(who principal) rewrite.Deps {
	d := c.bridge.Deps
	d.Seal = func(payload string) string { return c.bridge.sealer.seal(who, c.id, payload) }
	d.Open = func(state string) (string, bool) {
		id, payload, ok := c.bridge.sealer.open(who, state)
		return payload, ok && id == c.id
	}
	return d
}

// resumed finds the conversation of a call to which a client comes back.
func (b *Bridge) resumed(who principal, m *mcp.Message) (key poolKey, found *pooled) {
	if m.Body == nil {
		return key, nil
	}
	id, _, ok := b.sealer.open(who, m.Body.Text("requestState"))
	if !ok {
		return key, nil
	}
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	for key, p := range b.pool.members {
		if p.c != nil && p.c.id == id && key.principal == who {
			p.users++
			return key, p
		}
	}
	return key, nil
}
