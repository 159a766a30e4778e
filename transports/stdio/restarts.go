package stdio

import (
	"sync"
	"time"
)

const (
	// restartMin and restartMax bound the pause before another start. The
	// first restart needs none.
	restartMin = time.Second
	restartMax = time.Minute
	// steady is how long a child must live for its death to be a first one.
	steady = time.Minute
)

// restarts decides when a command that died may be started again.
type restarts struct {
	mu     sync.Mutex
	deaths int // in a row
	last   time.Time
	cause  *Ended
}

// died counts the death of a child. Those that were started before the last
// death was known died of the same thing.
func (r *restarts) died(started, now time.Time, cause *Ended) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(started) >= steady {
		r.deaths = 0
	}
	if r.deaths > 0 && started.Before(r.last) {
		return
	}
	r.deaths++
	r.last, r.cause = now, cause
}

// worked says that the command is able to do its work.
func (r *restarts) worked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deaths, r.cause = 0, nil
}

// allowed returns a *Resting while the command must not be started.
func (r *restarts) allowed(command string, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	until := r.last.Add(pause(r.deaths))
	if !now.Before(until) {
		return nil
	}
	return &Resting{Command: command, Deaths: r.deaths, Until: until}
}

// pause returns how long a command rests after so many deaths.
func pause(deaths int) time.Duration {
	if deaths < 2 {
		return 0
	}
	// Beyond the sixth doubling the longest pause is reached.
	return min(restartMin<<min(deaths-2, 6), restartMax)
}

// failing returns how the last start failed, if that was not long ago.
func (r *restarts) failing(now time.Time) *Ended {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.last) >= restartMax {
		return nil
	}
	return r.cause
}
