package main

import (
	"io"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/configs"
)

// newLog returns the log of a process and its level, which can be changed.
func newLog(cfg configs.Server, p process) (zerolog.Logger, *level) {
	format := cfg.LogFormat
	if format == "" {
		format = configs.LogJSON
		if p.terminal {
			format = configs.LogConsole
		}
	}
	out := p.err
	if format == configs.LogConsole {
		noColor, _ := p.lookup("NO_COLOR") // an empty one counts as none (no-color.org)
		out = zerolog.ConsoleWriter{Out: p.err, NoColor: noColor != "" || !p.terminal, TimeFormat: "15:04:05"}
	}
	l := new(level)
	l.set(cfg)
	out = lossy{out, &l.lost}
	return zerolog.New(out).Level(zerolog.DebugLevel).Sample(l).With().Timestamp().Logger(), l
}

// level is the least level that is written, and how many lines could not be.
type level struct {
	least atomic.Int32
	lost  atomic.Int64
}

func (l *level) set(cfg configs.Server) {
	least := zerolog.Disabled
	if cfg.LogLevel != configs.LogNone {
		var err error
		if least, err = zerolog.ParseLevel(cfg.LogLevel); err != nil { // the configuration was checked
			least = zerolog.InfoLevel
		}
	}
	l.least.Store(int32(least))
}

// Sample implements zerolog.Sampler.
func (l *level) Sample(of zerolog.Level) bool { return int32(of) >= l.least.Load() }

// lossy is where a log goes that must not disturb the work: what cannot be
// written, because a disk is full or a reader gone, is counted and forgotten.
type lossy struct {
	to   io.Writer
	lost *atomic.Int64
}

// Write implements io.Writer.
func (l lossy) Write(line []byte) (int, error) {
	if _, err := l.to.Write(line); err != nil {
		l.lost.Add(1)
	}
	return len(line), nil
}
