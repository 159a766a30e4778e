package main

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
)

// TestBindProblemsKeepTheirCause: the words are for a person, the cause for a
// caller.
func TestBindProblemsKeepTheirCause(t *testing.T) {
	for _, cause := range []error{
		os.NewSyscallError("bind", syscall.EADDRINUSE), os.NewSyscallError("bind", syscall.EADDRNOTAVAIL),
		os.NewSyscallError("bind", syscall.EACCES), &net.DNSError{Name: "x"}, net.ErrClosed,
	} {
		if err := bindProblem(&net.OpError{Op: "listen", Err: cause}, "--listen"); !errors.Is(err, cause) {
			t.Errorf("%v has lost %v", err, cause)
		}
	}
}
