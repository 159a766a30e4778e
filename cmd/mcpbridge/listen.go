package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

	"github.com/mcpbridge/mcpbridge/configs"
)

// listen opens an address. Its errors say what to do; flag is the one that
// chooses another address.
func listen(addr, flag string) (net.Listener, error) {
	if path, ok := configs.UnixSocket(addr); ok {
		l, err := listenUnix(path)
		if err != nil {
			return nil, fmt.Errorf("listen %s: %w", addr, socketProblem(err, flag))
		}
		return l, nil
	}
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l, nil
	}
	return nil, fmt.Errorf("listen %s: %w", addr, bindProblem(err, flag))
}

// reworded is an error in other words.
type reworded struct {
	text  string
	cause error
}

func (r reworded) Error() string { return r.text }
func (r reworded) Unwrap() error { return r.cause }

func bindProblem(err error, flag string) error {
	var dns *net.DNSError
	var text string
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		text = "address already in use; another mcpbridge or service has it"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		text = "this machine does not have that address"
	case errors.Is(err, os.ErrPermission):
		text = "permission denied; ports below 1024 are often reserved"
	case errors.As(err, &dns):
		text = "the host cannot be resolved"
	default:
		return err
	}
	return reworded{text + "; choose another with " + flag, err}
}

// written returns the address of a listener as a guard reads it.
func written(addr net.Addr) string {
	if addr.Network() == "unix" {
		return configs.UnixScheme + addr.String()
	}
	return addr.String()
}

// reachable returns host:port by which this machine reaches a listener, and
// unix:PATH: for a Unix domain socket, as web servers write it in URLs.
func reachable(addr net.Addr) string {
	if addr.Network() == "unix" {
		return written(addr) + ":"
	}
	at, ok := bound(addr)
	if !ok || !at.Addr().IsUnspecified() {
		return addr.String()
	}
	return fmt.Sprintf("localhost:%d", at.Port())
}

// isOpen reports whether other machines reach a listener.
func isOpen(addr net.Addr) bool {
	at, ok := bound(addr)
	return addr.Network() != "unix" && (!ok || !at.Addr().IsLoopback())
}

func bound(addr net.Addr) (netip.AddrPort, bool) {
	at, err := netip.ParseAddrPort(addr.String())
	return at, err == nil
}

// ownAddresses lists the addresses by which a listener is addressed beside
// localhost: those of all interfaces when it listens on all. An address is no
// way into a browser for a foreign site, as a name is.
func ownAddresses(addr net.Addr) []string {
	at, ok := bound(addr)
	if !ok || !at.Addr().IsUnspecified() {
		return nil
	}
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var hosts []string
	for _, i := range interfaces {
		if n, ok := i.(*net.IPNet); ok {
			hosts = append(hosts, n.IP.String())
		}
	}
	return hosts
}
