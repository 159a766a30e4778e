package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// socketMode lets the owner and the group of a socket file connect to it.
const socketMode fs.FileMode = 0o660

// socketFile is a listener on a Unix domain socket, whose file it owns.
type socketFile struct {
	net.Listener
	path string
	own  fs.FileInfo
}

// listenUnix opens a Unix domain socket at path. A socket file that is there
// already is removed if nobody listens on it: a process that was killed leaves
// its own behind.
func listenUnix(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if isErrno(err, syscall.EADDRINUSE, winAddrInUse) {
		if err = removeStale(path); err == nil {
			l, err = net.Listen("unix", path)
		}
	}
	if err != nil {
		return nil, err
	}
	file := &socketFile{Listener: l, path: path}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // it would remove a file of another process too
	}
	err = os.Chmod(path, socketMode)
	if err == nil {
		file.own, err = os.Lstat(path)
	}
	if err != nil {
		_ = l.Close() // it is of no use
		return nil, fmt.Errorf("restrict who may connect: %w", err)
	}
	return file, nil
}

// Close implements net.Listener and removes the file, unless another process
// has put its own there.
func (f *socketFile) Close() error {
	if now, err := os.Lstat(f.path); err == nil && f.own != nil && os.SameFile(now, f.own) {
		_ = os.Remove(f.path) // if it cannot be, the next one to listen does
	}
	return f.Listener.Close()
}

// askTime bounds the question whether somebody listens; the answer is the
// system's.
const askTime = 2 * time.Second

// removeStale removes the socket file that a process left behind.
func removeStale(path string) error {
	found, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // its owner has just removed it
	case err != nil:
		return err
	case found.Mode().Type() != fs.ModeSocket:
		return reworded{"there is a file that is no socket, and it is left alone", fs.ErrExist}
	}
	c, err := net.DialTimeout("unix", path, askTime)
	switch {
	case err == nil:
		_ = c.Close() // nothing was said
		return reworded{"another process listens on that socket", syscall.EADDRINUSE}
	case !isErrno(err, syscall.ECONNREFUSED, winConnRefused):
		return reworded{"there is a socket, and whether somebody listens on it cannot be told (" + plainCause(err) +
			"); remove it if nobody does", err}
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(now, found) {
		return reworded{"another process starts to listen on that socket", syscall.EADDRINUSE}
	}
	return os.Remove(path)
}

// plainCause words the cause of an error without the path, which stands
// before it.
func plainCause(err error) string {
	var cause syscall.Errno
	if errors.As(err, &cause) {
		return cause.Error()
	}
	return err.Error()
}

// What Windows calls those errors (Winsock); no other system has such numbers.
const (
	winAddrInUse   = syscall.Errno(10048)
	winConnRefused = syscall.Errno(10061)
)

func isErrno(err error, either, or syscall.Errno) bool {
	return errors.Is(err, either) || errors.Is(err, or)
}

func socketProblem(err error, flag string) error {
	var text string
	var worded reworded
	switch {
	case errors.As(err, &worded):
		text = worded.text
	case errors.Is(err, fs.ErrNotExist):
		text = "the directory of the socket does not exist; create it"
	case errors.Is(err, syscall.ENOTDIR):
		text = "a part of the path is no directory"
	case errors.Is(err, fs.ErrPermission):
		text = "permission denied; the directory of the socket must be writable"
	default:
		return err
	}
	return reworded{text + "; choose another with " + flag, err}
}
