package websocket

import "sync"

// ahead is how many bytes are read before their turn.
const ahead = 1 << 20

// inbox holds what was read until the host takes it.
type inbox struct {
	mu      sync.Mutex
	changed *sync.Cond
	queue   []heard
	bytes   int
	closed  bool
}

func newInbox() *inbox {
	i := &inbox{}
	i.changed = sync.NewCond(&i.mu)
	return i
}

// put adds what was read, and waits while too much is there.
func (i *inbox) put(h heard) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.queue = append(i.queue, h)
	i.bytes += weight(h)
	i.changed.Broadcast()
	for i.bytes > ahead && !i.closed {
		i.changed.Wait()
	}
}

// take waits for what was read first; false when the inbox is closed.
func (i *inbox) take() (heard, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.queue) == 0 && !i.closed {
		i.changed.Wait()
	}
	if i.closed {
		return heard{}, false
	}
	h := i.queue[0]
	i.queue[0] = heard{}
	i.queue = i.queue[1:]
	i.bytes -= weight(h)
	i.changed.Broadcast()
	return h, true
}

// close ends both sides. Nobody waits for what is left: its sender is gone.
func (i *inbox) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed, i.queue = true, nil
	i.changed.Broadcast()
}

// weight is about what a message takes: small ones are read into larger
// buffers.
func weight(h heard) int { return h.size + 4<<10 }
