package stdio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
)

// Program is a server that is started as a child, one for each conversation.
// It keeps all its children in sight, so that none outlives it. All methods
// are safe for concurrent use.
type Program struct {
	spec   Command
	name   string // for people
	starts restarts

	mu       sync.Mutex
	children map[*child]struct{}
	closed   bool
}

// NewCommand returns the program that a command starts. Nothing is started
// before the first Dial.
func NewCommand(spec Command) *Program {
	return &Program{spec: spec.withDefaults(), name: filepath.Base(spec.Path), children: map[*child]struct{}{}}
}

var errProgramClosed = errors.New("stdio: starting a server: the bridge is shutting down")

// Dial implements transports.Dialer: it starts a child. A command that dies
// before it has said anything rests for a growing while, a *Resting.
func (p *Program) Dial(ctx context.Context) (transports.Conn, error) {
	return p.dial(ctx, func(time.Time, *Ended) {})
}

// dial starts a child; died hears of a death that nobody asked for.
func (p *Program) dial(ctx context.Context, died func(started time.Time, how *Ended)) (transports.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := p.starts.allowed(p.name, time.Now()); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errProgramClosed
	}
	c, err := startChild(p, died)
	if err != nil {
		return nil, err
	}
	p.children[c] = struct{}{}
	return c, nil
}

// seat is the place of one conversation's children, one after the other.
type seat struct {
	program  *Program
	restarts restarts
}

// Dial implements transports.Dialer.
func (s *seat) Dial(ctx context.Context) (transports.Conn, error) {
	if err := s.restarts.allowed(s.program.name, time.Now()); err != nil {
		return nil, err
	}
	return s.program.dial(ctx, func(started time.Time, how *Ended) { s.restarts.died(started, time.Now(), how) })
}

// Conversation returns a new conversation with a child of its own. A child
// that dies again and again at its work rests too, and only for its own
// conversation.
func (p *Program) Conversation() transports.Upstream { return transports.NewPiped(&seat{program: p}) }

// Ready returns nil when the command can be started, as far as that is known:
// it exists, and the last one that was started came to speak.
func (p *Program) Ready(context.Context) error {
	if err := p.find(); err != nil {
		return err
	}
	if how := p.starts.failing(time.Now()); how != nil {
		return fmt.Errorf("stdio: starting %s: the last one said nothing before it ended: %s", p.name, how.State)
	}
	return nil
}

// find looks for the command where a start would.
func (p *Program) find() error {
	if p.spec.Dir != "" {
		if info, err := os.Stat(p.spec.Dir); err != nil || !info.IsDir() {
			return &NotStarted{Command: p.name, Err: err, Text: "its working directory " + p.spec.Dir + " does not exist"}
		}
	}
	path := p.spec.Path
	if p.spec.Dir != "" && !filepath.IsAbs(path) && strings.ContainsRune(path, filepath.Separator) {
		path = filepath.Join(p.spec.Dir, path) // as os/exec resolves it
	}
	_, err := exec.LookPath(path)
	return notStarted(p.name, err)
}

// Running returns the number of children that have not ended.
func (p *Program) Running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.children)
}

func (p *Program) forget(c *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.children, c)
}

// Close ends all children and starts no more. When ctx ends before them, they
// are killed.
func (p *Program) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	var all []*child
	for c := range p.children {
		all = append(all, c)
	}
	p.mu.Unlock()
	var closing sync.WaitGroup
	errs := make([]error, len(all))
	for i, c := range all {
		closing.Go(func() {
			defer context.AfterFunc(ctx, c.hurry)()
			errs[i] = c.Close()
		})
	}
	closing.Wait()
	return errors.Join(errs...)
}
