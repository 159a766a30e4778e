package stdio

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/transports/lines"
)

// longestComplaint bounds what is logged of one line.
const longestComplaint = 4 << 10

// complaints reads a child's standard error. It always reads: a child whose
// errors nobody takes would stop (field report 90). Nothing follows from what
// is written there.
type complaints struct {
	file *os.File
	hide *strings.Replacer
	pid  int
	log  func(pid int, line string)
	done chan struct{} // closed at the end

	mu     sync.Mutex
	latest string
}

func (c *complaints) read() {
	defer close(c.done)
	var flow trickle
	defer func() { c.tell(flow.rest()) }()
	for in := lines.NewReader(c.file, longestComplaint); ; {
		line, err := in.Next()
		var long *lines.TooLong
		if errors.As(err, &long) {
			line, err = append(long.Head, "..."...), nil
		}
		if err != nil {
			return
		}
		text := c.hide.Replace(string(bytes.ToValidUTF8(line, []byte("\uFFFD"))))
		c.remember(text)
		if more, ok := flow.allow(time.Now()); ok {
			c.tell(more)
			c.tell(text)
		}
	}
}

func (c *complaints) tell(text string) {
	if text != "" {
		c.log(c.pid, text)
	}
}

func (c *complaints) remember(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest = text
}

func (c *complaints) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latest
}

// finish ends the reading. A process that left the child's group may hold the
// stream open.
func (c *complaints) finish() {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
	}
	_ = c.file.Close()
	<-c.done
}
