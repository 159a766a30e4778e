package peerkit

import (
	"context"
	"encoding/json"
	"sync"
)

// Notification is one notification that the client received.
type Notification struct {
	Method string
	Params map[string]any
}

// Inbox keeps the notifications of one session and wakes whoever waits for one.
type Inbox struct {
	mu      sync.Mutex
	all     []Notification
	arrived chan struct{}
}

// NewInbox returns an empty inbox.
func NewInbox() *Inbox { return &Inbox{arrived: make(chan struct{})} }

// Add stores a notification; params may be any value that marshals to an object.
func (b *Inbox) Add(method string, params any) {
	var fields map[string]any
	if data, err := json.Marshal(params); err == nil {
		// Params that are no object stay nil: no step looks into such.
		_ = json.Unmarshal(data, &fields)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, Notification{Method: method, Params: fields})
	close(b.arrived)
	b.arrived = make(chan struct{})
}

// Wait returns the first n notifications that match, as soon as there are n.
func (b *Inbox) Wait(ctx context.Context, n int, match func(Notification) bool) ([]Notification, error) {
	for {
		b.mu.Lock()
		arrived := b.arrived
		var found []Notification
		for _, note := range b.all {
			if len(found) < n && match(note) {
				found = append(found, note)
			}
		}
		b.mu.Unlock()
		if len(found) == n {
			return found, nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return found, ctx.Err()
		}
	}
}
