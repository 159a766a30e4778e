// Command mcpbridge lets MCP clients and servers of different protocol
// versions talk to each other.
//
// It refuses to know the protocol: it reads flags, opens listeners, and hands
// both to the packages that do the work.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// process is the program's surroundings, so that tests can be them.
type process struct {
	in       io.Reader
	out, err io.Writer
	lookup   func(variable string) (string, bool)
	// signals starts the delivery of requests to stop.
	signals  func() (<-chan os.Signal, func())
	terminal bool // err is a terminal
}

func main() {
	os.Exit(run(os.Args[1:], process{
		in:       os.Stdin,
		out:      os.Stdout,
		err:      os.Stderr,
		lookup:   os.LookupEnv,
		signals:  stopSignals,
		terminal: isTerminal(os.Stderr),
	}))
}

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // it was told right and could not do it
	exitUsage   = 2 // it was told wrong
)

// failure is an error of running, as opposed to one of being told wrong.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// misconfigured is one of being told wrong by a file: usage has no answer to
// it.
type misconfigured struct{ error }

func (m misconfigured) Unwrap() []error { return problems(m.error) }

// run executes one command line and returns the exit code.
func run(args []string, p process) int {
	root := newRoot(p)
	root.SetArgs(spread(args))
	cmd, err := root.ExecuteC()
	if err == nil {
		return exitOK
	}
	for _, one := range problems(err) {
		fmt.Fprintf(p.err, "mcpbridge: %s\n", strings.TrimSpace(one.Error()))
	}
	var f failure
	if errors.As(err, &f) {
		return exitFailure
	}
	var wrong misconfigured
	if !errors.As(err, &wrong) {
		fmt.Fprintf(p.err, "Run '%s --help' for usage.\n", cmd.CommandPath())
	}
	return exitUsage
}

// problems takes joined errors apart.
func problems(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // only the outermost
		return joined.Unwrap()
	}
	return []error{err}
}

func stopSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup makes it so
		signal.Notify(c, syscall.SIGHUP)
	}
	return c, func() { signal.Stop(c) }
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
