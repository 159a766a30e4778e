package auth

import (
	"context"
	"sync"
	"time"
)

// Lease is how long something may go on for one identity: a standalone
// stream, a socket, an HTTP+SSE session. The answer to a request is none of
// these: it was asked for in time, and to withhold it would lose a call that
// may have had an effect.
//
// A Lease is safe for concurrent use.
type Lease struct {
	principal string
	cancel    context.CancelCauseFunc

	mu    sync.Mutex
	until time.Time
	timer *time.Timer
}

type leaseKey struct{}

// LeaseFrom returns the lease that a context stands under, or nil.
func LeaseFrom(ctx context.Context) *Lease {
	l, _ := ctx.Value(leaseKey{}).(*Lease)
	return l
}

// NewLease returns a context that ends with [ErrExpired] when the identity's
// credential does, and the lease to prolong it. Close must be called.
func NewLease(parent context.Context, i Identity) (context.Context, *Lease) {
	ctx, cancel := context.WithCancelCause(parent)
	l := &Lease{principal: i.Principal(), cancel: cancel, until: i.Until()}
	if !l.until.IsZero() {
		l.timer = time.AfterFunc(time.Until(l.until), func() { cancel(ErrExpired) })
	}
	return context.WithValue(ctx, leaseKey{}, l), l
}

// Renew prolongs the lease by a newer credential of the same principal, as
// one that comes with a later message of the session. It returns false, and
// changes nothing, for any other principal and after the end.
func (l *Lease) Renew(i Identity) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i.Principal() != l.principal {
		return false
	}
	later := i.Until().After(l.until) || i.Until().IsZero()
	if l.timer == nil || !later {
		return true
	}
	if !l.timer.Stop() {
		return false
	}
	l.until = i.Until()
	if l.until.IsZero() {
		l.timer = nil
		return true
	}
	l.timer.Reset(time.Until(l.until))
	return true
}

// Close ends the lease and its context.
func (l *Lease) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.cancel(context.Canceled)
}
