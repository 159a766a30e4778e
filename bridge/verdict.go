package bridge

import (
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// verdict is what is known of an upstream's era, for one credential.
type verdict struct {
	era     negotiate.Era
	version mcp.Version // the stateless version, where there is one
	// noHandshake says that a handshake was tried and refused: the two facts
	// are apart, since many servers speak both eras.
	noHandshake bool
	// guess says that nothing was learned but that a handshake is worth a try.
	guess   bool
	until   time.Time
	doubted bool // the server behaved otherwise
	// settled is the era of the last verdict that was no guess: what changed is
	// told from there.
	settled negotiate.Era
}

const (
	legacyTTL = time.Hour       // an upstream may be upgraded
	shortTTL  = 5 * time.Minute // for what rests on a failure
	probeWait = 2 * time.Second // that a client of a handshake revision waits
	probeMax  = 10 * time.Second
)

// verdicts remembers them. An upstream may answer each credential otherwise.
type verdicts struct {
	mu    sync.Mutex
	known map[principal]verdict
	runs  map[principal]chan struct{} // probes under way
}

const maxVerdicts = 1000

func (v *verdicts) get(p principal) (verdict, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.holding(p)
}

// holding returns a verdict that has not expired.
func (v *verdicts) holding(p principal) (verdict, bool) {
	found, ok := v.known[p]
	ok = ok && !found.doubted && (found.until.IsZero() || time.Now().Before(found.until))
	if !ok {
		return verdict{}, false
	}
	return found, true
}

// put notes a verdict, and returns the era that was settled before.
func (v *verdicts) put(p principal, found verdict) (before negotiate.Era) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil || len(v.known) > maxVerdicts {
		v.known = map[principal]verdict{}
	}
	before = v.known[p].settled
	if found.settled = found.era; found.guess {
		found.settled = before
	}
	v.known[p] = found
	return before
}

// drop notes that the verdict no longer holds.
func (v *verdicts) drop(p principal) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if was, ok := v.known[p]; ok {
		was.doubted = true
		v.known[p] = was
	}
}

// begin reports the probe under way for a credential; first is true for the
// caller that must run it, and end what it must call then.
func (v *verdicts) begin(p principal) (done <-chan struct{}, first bool, end func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if running := v.runs[p]; running != nil {
		return running, false, nil
	}
	mine := make(chan struct{})
	if _, ok := v.holding(p); ok { // one just ended
		close(mine)
		return mine, false, nil
	}
	if v.runs == nil {
		v.runs = map[principal]chan struct{}{}
	}
	v.runs[p] = mine
	return mine, true, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.runs, p)
		close(mine)
	}
}

// judge notes what is concluded of the upstream for a credential.
func (b *Bridge) judge(p principal, v verdict, by string) {
	before := b.eras.put(p, v)
	b.Observer.Judged(string(v.era), by)
	if before != negotiate.Unknown && before != v.era && !v.guess {
		b.Observer.Reclassified(string(before), string(v.era))
		b.Log.Info().Str("upstream", b.Upstream).Str("was", string(before)).Str("is", string(v.era)).Msg("the upstream speaks another era than before")
	}
}
