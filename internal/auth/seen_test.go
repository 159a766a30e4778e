package auth

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	jose "github.com/go-jose/go-jose/v4"
)

// A token that was seen costs no signature, and so needs no slot.
func TestSignaturesAreBounded(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	a := trusting(t, c, newKeyServer(t, k.public()))
	known := k.sign(t, c.claims(nil), nil)
	admitted(t, a, known)
	for range cap(a.slots) {
		a.slots <- struct{}{}
	}
	admitted(t, a, known)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := request("Bearer " + k.sign(t, c.claims(map[string]any{"sub": "bob"}), nil)).WithContext(ctx)
	_, p := a.Check(r)
	if p == nil || p.Reason != TooManyAtOnce || p.Status != http.StatusServiceUnavailable {
		t.Errorf("problem %+v", p)
	}
	h := http.Header{}
	p.SetHeader(h)
	if h.Get("Retry-After") == "" || h.Get("Www-Authenticate") != "" {
		t.Errorf("headers %v", h)
	}
	a.slots.release()
	if _, p := a.Check(r); p != nil {
		t.Errorf("refused: %s", p.Reason)
	}
}

func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := make(slots, 1)
		start := time.Now()
		if !s.take(t.Context()) || s.take(t.Context()) || time.Since(start) != slotWait {
			t.Errorf("a full slot was waited for %s", time.Since(start))
		}
		taken := make(chan bool)
		go func() { taken <- s.take(t.Context()) }()
		synctest.Wait()
		s.release()
		if !<-taken {
			t.Error("a slot that is free was not taken")
		}
	})
}

func TestSeenIsBounded(t *testing.T) {
	c := newClock()
	s := newSeen()
	sum := func(n int) [sha256.Size]byte { return sha256.Sum256(fmt.Append(nil, n)) }
	short := &proof{identity: Identity{until: c.now().Add(time.Minute)}}
	long := &proof{identity: Identity{until: c.now().Add(time.Hour)}}
	const shorts = maxSeen / 2
	for n := range maxSeen {
		s.put(sum(n), map[bool]*proof{true: short, false: long}[n < shorts], c.now())
	}
	c.pass(time.Minute)
	s.put(sum(maxSeen), long, c.now())
	if len(s.of) != maxSeen-shorts+1 || s.get(sum(0)) != nil || s.get(sum(shorts)) == nil {
		t.Errorf("%d are left", len(s.of))
	}
	for n := range 2 * maxSeen {
		s.put(sum(maxSeen+n), long, c.now())
		if len(s.of) > maxSeen {
			t.Fatalf("%d are remembered", len(s.of))
		}
	}
	if len(s.of) < maxSeen*3/4 || s.get(sum(3*maxSeen-1)) == nil {
		t.Errorf("%d are left", len(s.of))
	}
}
