package bridge

import (
	"crypto/hmac"
	"crypto/sha256"
	"net/http"
)

// principal is who a request speaks for: a keyed hash of the credentials it
// carries. The key is drawn at start, so that a principal means nothing
// outside of this process.
type principal [sha256.Size]byte

// principalOf hashes what a client proves itself with. Clients without
// credentials share one principal: what separates them is that session ids
// cannot be guessed.
func (b *Bridge) principalOf(h http.Header) principal {
	mac := hmac.New(sha256.New, b.salt[:])
	for _, v := range h.Values("Authorization") {
		_, _ = mac.Write([]byte(v))
		_, _ = mac.Write([]byte{0})
	}
	return principal(mac.Sum(nil))
}
