package oauth

import (
	"context"
	"errors"
	"sync"
	"time"
)

// How long is remembered what was found upstream. A failure is remembered
// too: clients that are told 401 come back at once, and often.
const (
	foundFor  = 5 * time.Minute
	absentFor = 30 * time.Second
	failedFor = 10 * time.Second

	// searchTime bounds a search in all: a 401 waits for it.
	searchTime = 5 * time.Second
)

// errAbsent means that the upstream answered, and has no such thing.
var errAbsent = errors.New("the server has no such document")

// cell remembers one thing that must be looked for. One search runs at a
// time; all who ask meanwhile wait for it.
type cell[T any] struct {
	mu      sync.Mutex
	val     T
	err     error
	at      time.Time // when the search ended
	until   time.Time
	running chan struct{} // closed at the end of the search; nil without one
}

// get returns what find returned last, as long as that counts. A caller that
// leaves ends nobody's search.
func (c *cell[T]) get(ctx context.Context, find func(context.Context) (T, error)) (T, error) {
	for {
		c.mu.Lock()
		if time.Now().Before(c.until) {
			defer c.mu.Unlock()
			return c.val, c.err
		}
		running := c.running
		if running == nil {
			c.running = make(chan struct{})
			c.mu.Unlock()
			return c.search(ctx, find)
		}
		c.mu.Unlock()
		select {
		case <-running:
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
	}
}

func (c *cell[T]) search(ctx context.Context, find func(context.Context) (T, error)) (val T, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), searchTime)
	defer cancel()
	err = errors.New("the search broke off")
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		known := !c.at.IsZero() && c.err == nil
		c.at = time.Now()
		c.until = c.at.Add(lifetime(err))
		if known && err != nil && !errors.Is(err, errAbsent) {
			val, err = c.val, nil // what was found counts until the server can be asked again
		}
		c.val, c.err = val, err
		close(c.running)
		c.running = nil
	}()
	val, err = find(ctx)
	return val, err
}

func lifetime(err error) time.Duration {
	switch {
	case err == nil:
		return foundFor
	case errors.Is(err, errAbsent):
		return absentFor
	}
	return failedFor
}

// doubt lets what was found count no longer than a failure would: there is
// news that it may be another.
func (c *cell[T]) doubt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end := c.at.Add(failedFor); end.Before(c.until) {
		c.until = end
	}
}
