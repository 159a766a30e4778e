package configs

import (
	"path/filepath"
	"runtime"
	"strings"
)

// UnixScheme begins the address of a listener on a Unix domain socket.
const UnixScheme = "unix:"

// UnixSocket returns the path of the socket file that the address of a
// listener names as unix:PATH, or unix:///PATH; ok is false for an address of
// another kind.
func UnixSocket(addr string) (path string, ok bool) {
	path, ok = strings.CutPrefix(addr, UnixScheme)
	if strings.HasPrefix(path, "///") {
		path = path[2:]
	}
	return path, ok
}

// maxSocketPath is what the systems take, in bytes: the field of the address
// has room for 108 on Linux and Windows and 104 on the others, a zero
// included.
func maxSocketPath() int {
	if runtime.GOOS == "linux" || runtime.GOOS == "windows" {
		return 107
	}
	return 103
}

func checkSocketPath(p *Problems, field, path string) {
	switch {
	case path == "":
		p.add(field, "the path of the socket is missing; write unix:PATH, as unix:/run/mcpbridge.sock")
	case strings.HasPrefix(path, "//"):
		p.add(field, "%q has a host; write unix:PATH, as unix:/run/mcpbridge.sock", UnixScheme+path)
	case strings.HasPrefix(path, "@"), hasControl(path):
		p.add(field, "%q is no path of a file; sockets without one (abstract ones) have no permissions and are not served", path)
	case strings.HasSuffix(path, "/"):
		p.add(field, "%q is a directory; name a file in it", path)
	case len(path) > maxSocketPath():
		p.add(field, "the path of the socket has %d bytes, and the system takes %d; choose a shorter one", len(path), maxSocketPath())
	}
}

// sameAddress reports two listeners of which only one could be had.
func sameAddress(a, b string) bool {
	pathA, unixA := UnixSocket(a)
	pathB, unixB := UnixSocket(b)
	if unixA || unixB {
		return unixA && unixB && filepath.Clean(pathA) == filepath.Clean(pathB)
	}
	return a == b && !strings.HasSuffix(a, ":0")
}
