package auth

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

const (
	// freshFor is how long keys are used without a look at the source.
	freshFor = 5 * time.Minute
	// pause is the least time between two loads, whatever they are for: so
	// tokens with made-up key ids cannot make the bridge flood the source.
	pause = 10 * time.Second
	// loadTimeout bounds one load.
	loadTimeout = 10 * time.Second
)

// keySet is what a source held at some time.
type keySet struct {
	keys       []key
	sum        [sha256.Size]byte // of its text
	at         time.Time         // when it was last seen to be so
	generation uint64            // grows with every change
}

// source is where the keys of an authorization server are: a URL or a file.
// It is loaded when it is needed, never by a timer, and by one at a time.
type source struct {
	name    string // for messages, without what may be secret
	load    func(context.Context) ([]byte, error)
	maxAge  time.Duration // after which keys that cannot be loaded again are not used
	now     func() time.Time
	trouble func(error)
	life    context.Context
	loads   *sync.WaitGroup

	mu      sync.Mutex
	set     *keySet
	err     error         // of the last load
	next    time.Time     // no load before
	running chan struct{} // closed at the end of the load under way
	closed  bool
}

// usable returns what the source holds, nil when that is nothing or too old.
// It never waits: unless what it holds is fresh it begins a load.
func (s *source) usable() *keySet {
	s.mu.Lock()
	set := s.set
	s.mu.Unlock()
	if set == nil {
		s.start()
		return nil
	}
	age := s.now().Sub(set.at)
	if age >= freshFor {
		s.start()
	}
	if age >= s.maxAge {
		return nil
	}
	return set
}

// again loads sources once more, for a key that they did not hold, but for
// those where that was tried a moment ago. It returns when all have ended.
func again(ctx context.Context, sources []*source) {
	var loads []<-chan struct{}
	for _, s := range sources {
		if done := s.start(); done != nil {
			loads = append(loads, done)
		}
	}
	for _, done := range loads {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

// start begins a load, or joins the one under way. It returns nil when it is
// too early for one.
func (s *source) start() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		return s.running
	}
	now := s.now()
	if s.closed || now.Before(s.next) {
		return nil
	}
	s.next = now.Add(pause)
	done := make(chan struct{})
	s.running = done
	s.loads.Go(func() {
		s.run()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running = nil
		close(done)
	})
	return done
}

// run loads the source. What was loaded before stays if that fails.
func (s *source) run() {
	ctx, cancel := context.WithTimeout(s.life, loadTimeout)
	defer cancel()
	text, err := s.load(ctx)
	var keys []key
	var unfit int
	if err == nil {
		keys, unfit, err = parseKeys(text)
	}
	if err != nil {
		err = fmt.Errorf("auth: loading the keys of the authorization server from %s: %w", s.name, err)
	}
	changed := s.keep(text, keys, err)
	switch {
	case err != nil && s.life.Err() == nil:
		s.trouble(err)
	case changed && len(keys) == 0:
		s.trouble(fmt.Errorf("auth: the key set at %s holds no key that can be used (%d that cannot): tokens are refused until it does", s.name, unfit))
	}
}

func (s *source) keep(text []byte, keys []key, err error) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	if err != nil {
		return false
	}
	set := &keySet{keys: keys, sum: sha256.Sum256(text), at: s.now()}
	if s.set != nil {
		set.generation = s.set.generation
	}
	if changed = s.set == nil || s.set.sum != set.sum; changed {
		set.generation++
	}
	s.set = set
	return changed
}

// close lets no load begin any more.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// warm loads the source unless it is loaded, and says why it could not be.
func (s *source) warm(ctx context.Context) error {
	if s.usable() != nil {
		return nil
	}
	again(ctx, []*source{s})
	if s.usable() != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return fmt.Errorf("auth: loading the keys of the authorization server from %s: %w", s.name, context.Cause(ctx))
	}
	return s.err
}
