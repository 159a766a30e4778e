package stdio

import (
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
)

// Command says how to start a server, and who hears of it. Zero values mean
// the defaults.
type Command struct {
	Path string // a program in PATH, or the path of one; no shell reads it
	Args []string
	Dir  string // its working directory; "" is the bridge's own

	// Env holds variables to set, as NAME=VALUE. Inherit names variables that
	// the child gets from the bridge beyond the harmless ones, InheritAll gives
	// it all of them but those that Withhold reports.
	Env        []string
	Inherit    []string
	InheritAll bool
	Withhold   func(name string) bool

	MaxMessage int // bytes of a line; default 64 MiB
	// StopGrace is how long the child may take to end after its input was
	// closed, and again after it was asked to end; default 2 s.
	StopGrace time.Duration

	Log     func(pid int, line string) // a line of standard error; may be nil
	Noise   func(pid int, text string) // the start of an output line that is no message; may be nil
	Ended   func(*Ended)               // an end that nobody asked for; may be nil
	Garbage transports.Garbage         // counts lines that are no message; may be nil
}

func (c Command) withDefaults() Command {
	if c.MaxMessage <= 0 {
		c.MaxMessage = 64 << 20
	}
	if c.StopGrace <= 0 {
		c.StopGrace = 2 * time.Second
	}
	if c.Withhold == nil {
		c.Withhold = func(string) bool { return false }
	}
	if c.Log == nil {
		c.Log = func(int, string) {}
	}
	if c.Noise == nil {
		c.Noise = func(int, string) {}
	}
	if c.Ended == nil {
		c.Ended = func(*Ended) {}
	}
	if c.Garbage == nil {
		c.Garbage = func(string) {}
	}
	return c
}
