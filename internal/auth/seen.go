package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"sync"
	"time"
)

// maxSeen is how many tokens are remembered.
const maxSeen = 4096

// proof is what a JSON Web Token proved.
type proof struct {
	identity   Identity
	issuer     *issuer
	from       *source
	generation uint64 // of the keys of that source
	bound      string // SHA-256 of the certificate that must come with it, or ""
	scoped     bool   // it has all scopes that are required
}

// holds reports whether the proof is still one: the key may be withdrawn.
func (p *proof) holds(now time.Time) bool {
	if p.identity.ExpiredAt(now) {
		return false
	}
	set := p.from.usable()
	return set != nil && set.generation == p.generation
}

// shown reports whether the client showed the certificate that the token is
// bound to (RFC 8705 section 3). Who it is of, and which authority signed it,
// does not matter: the authorization server has settled that.
func (p *proof) shown(c *tls.ConnectionState) bool {
	if p.bound == "" {
		return true
	}
	if c == nil || len(c.PeerCertificates) == 0 {
		return false
	}
	sum := sha256.Sum256(c.PeerCertificates[0].Raw)
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(p.bound)) == 1
}

// seen remembers good tokens by their hashes, so that a signature is checked
// once and not with each message.
type seen struct {
	mu sync.Mutex
	of map[[sha256.Size]byte]*proof
}

func newSeen() *seen { return &seen{of: map[[sha256.Size]byte]*proof{}} }

func (s *seen) get(sum [sha256.Size]byte) *proof {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[sum]
}

// put remembers a token. When there is no room, what has expired goes, and of
// the rest as much as leaves a quarter free: a full table is not worth a walk
// for each token.
func (s *seen) put(sum [sha256.Size]byte, p *proof, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.of) >= maxSeen {
		s.makeRoom(now)
	}
	s.of[sum] = p
}

func (s *seen) makeRoom(now time.Time) {
	for sum, p := range s.of {
		if p.identity.ExpiredAt(now) {
			delete(s.of, sum)
		}
	}
	for sum := range s.of {
		if len(s.of) <= maxSeen*3/4 {
			return
		}
		delete(s.of, sum)
	}
}

// slotWait is how long a token waits for its turn to be checked.
const slotWait = 2 * time.Second

// slots bound how many signatures are checked at once.
type slots chan struct{}

func (s slots) take(ctx context.Context) bool {
	select {
	case s <- struct{}{}:
		return true
	default:
	}
	late := time.NewTimer(slotWait)
	defer late.Stop()
	select {
	case s <- struct{}{}:
		return true
	case <-late.C:
	case <-ctx.Done():
	}
	return false
}

func (s slots) release() { <-s }
