package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/transports/lines"
)

// child is one running server. Four goroutines serve it: one waits for its
// end, one supervises it, one writes to it, one reads what it complains about.
// All of them end with it.
type child struct {
	program *Program
	cmd     *exec.Cmd
	group   *group
	started time.Time
	died    func(started time.Time, how *Ended)
	hide    *strings.Replacer // takes secrets out of what it says

	in     *os.File
	out    *output
	lines  *lines.Reader // of out
	noises trickle
	writes chan write

	stop     sync.Once
	stopping chan struct{} // closed when it is asked to end
	rush     sync.Once
	hurried  chan struct{}  // closed when it must end at once
	draining sync.WaitGroup // reads what a child that must end still writes
	exited   chan struct{}  // closed when the process was reaped
	over     chan struct{}  // closed when nothing of it is left
	survived bool           // it could not be killed; written before over is closed

	complaints complaints
	blame      sync.Once
	ended      *Ended // written by blame

	mu    sync.Mutex
	spoke bool // it sent a message
}

// startChild starts the program's command in a process group of its own.
func startChild(p *Program, died func(time.Time, *Ended)) (*child, error) {
	if p.spec.Dir != "" {
		if err := p.find(); err != nil { // the system's own words do not say what is missing
			return nil, err
		}
	}
	near, far, err := openStreams()
	if err != nil {
		return nil, err
	}
	defer far.close()
	env := p.spec.environ(os.Environ())
	// A child outlives the request that started it.
	cmd := exec.CommandContext(context.Background(), p.spec.Path, p.spec.Args...)
	cmd.Dir, cmd.Env = p.spec.Dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = far.in, far.out, far.err
	g := newGroup(cmd)
	if err := cmd.Start(); err != nil {
		near.close()
		return nil, notStarted(p.name, err)
	}
	c := &child{
		program: p, cmd: cmd, group: g, started: time.Now(), died: died, hide: p.spec.secrets(env),
		in: near.in, writes: make(chan write),
		stopping: make(chan struct{}), hurried: make(chan struct{}),
		exited: make(chan struct{}), over: make(chan struct{}),
	}
	c.out = &output{file: near.out, exited: c.exited}
	c.lines = lines.NewReader(c.out, p.spec.MaxMessage)
	c.complaints = complaints{file: near.err, hide: c.hide, pid: c.pid(), log: p.spec.Log, done: make(chan struct{})}
	c.group.started(cmd)
	go c.wait()
	go c.supervise()
	go c.write()
	go c.complaints.read()
	return c, nil
}

// wait reaps the process.
func (c *child) wait() {
	_ = c.cmd.Wait() // how it ended is in the state
	close(c.exited)
}

// supervise ends what is left of a child that ended, and a child that must.
func (c *child) supervise() {
	defer close(c.over)
	defer c.program.forget(c)
	select {
	case <-c.exited: // nobody asked for it; what it leaves behind serves nobody
		c.group.kill()
		c.lament("")
		c.gone(killTime, nil)
	case <-c.stopping:
		c.end()
	}
	c.group.release()
	_ = c.in.Close()
	c.out.wake()
	c.complaints.finish()
}

// killTime is how long a killed process may take to vanish.
const killTime = time.Second

// end stops the child: basic/lifecycle "Shutdown".
func (c *child) end() {
	_ = c.in.Close()
	for _, act := range []func(){c.group.terminate, c.group.kill} {
		if c.gone(c.program.spec.StopGrace, c.hurried) {
			return
		}
		act()
	}
	c.survived = !c.gone(killTime, nil)
}

// gone waits until the process and all of its group have ended, and reports
// whether they have. A process whose server has ended is told to end too.
func (c *child) gone(patience time.Duration, hurried <-chan struct{}) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c.exited:
	case <-timer.C:
		return false
	case <-hurried:
		return false
	}
	if c.group.empty() {
		return true
	}
	c.group.terminate()
	tick := time.NewTicker(10 * time.Millisecond) // nothing tells when a group becomes empty
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if c.group.empty() {
				return true
			}
		case <-timer.C:
			return false
		case <-hurried:
			return false
		}
	}
}

// lament says how a child ended that should have lived on: otherwise, where
// the process still lives. It counts the death, once.
func (c *child) lament(otherwise string) *Ended {
	c.blame.Do(func() {
		settled := time.NewTimer(drainTime / 2) // the end of a stream precedes that of its process
		defer settled.Stop()
		how := &Ended{Command: c.program.name, PID: c.pid(), State: otherwise}
		for _, event := range []<-chan struct{}{c.exited, c.complaints.done} {
			select {
			case <-event:
			case <-settled.C:
				settled.Reset(0)
			}
		}
		if isClosed(c.exited) {
			how.State = c.cmd.ProcessState.String()
		}
		how.LastLine = c.complaints.last()
		c.ended = how
		if !c.hasSpoken() {
			c.program.starts.died(c.started, time.Now(), how)
		}
		c.died(c.started, how)
		c.program.spec.Ended(how)
	})
	return c.ended
}

var errStopped = errors.New("stdio: using a server: it was told to end")

// Close implements transports.Conn. It returns when nothing of the child is
// left.
func (c *child) Close() error {
	c.stop.Do(func() {
		close(c.stopping)
		// A child that is blocked in writing would not see that its input ended.
		c.draining.Go(func() { _, _ = io.Copy(io.Discard, c.out.file) })
	})
	<-c.over
	_ = c.out.file.Close()
	c.draining.Wait()
	if c.survived {
		return fmt.Errorf("stdio: stopping %s: process %d does not end, not even when it is killed", c.program.name, c.pid())
	}
	return nil
}

// hurry makes Close kill the child without waiting for it.
func (c *child) hurry() { c.rush.Do(func() { close(c.hurried) }) }

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) hasSpoken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spoke
}
