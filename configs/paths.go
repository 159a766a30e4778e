package configs

import (
	"path"
	"strings"
)

// place is a path of the endpoint's listener.
type place struct {
	field, path string
	what        string // continues "is the path of"
}

// places lists what the endpoint's listener serves.
func (c Config) places() []place {
	all := []place{{"path", c.Path, "the Streamable HTTP endpoint"}}
	if stream, messages, ok := c.SSE(); ok {
		all = append(all, place{"sse_path", stream, "the event stream"},
			place{"message_path", messages, "the messages of the HTTP+SSE transport"})
	}
	if own, ok := c.Sockets(); ok {
		all = append(all, place{"ws_path", own, "the WebSocket endpoint"})
	}
	for _, health := range c.HealthPaths {
		all = append(all, place{"health_path", health, "a health check"})
	}
	return all
}

// checkPlaces checks that each path is one, and leads to one thing only. A
// slash at the end makes no difference.
func (c Config) checkPlaces(p *Problems) {
	if c.Stdio {
		return
	}
	taken := map[string]place{}
	for _, one := range c.places() {
		checkPath(p, one.field, one.path)
		key := strings.TrimSuffix(one.path, "/")
		switch other, is := taken[key]; {
		case !is:
			taken[key] = one
		case other.field != one.field: // a health check that is told twice is one
			p.add(one.field, "%q is the path of %s too; choose another", one.path, other.what)
		}
	}
}

func checkPath(p *Problems, field, value string) {
	switch {
	case !strings.HasPrefix(value, "/") || strings.HasPrefix(value, "//"):
		p.add(field, "%q is no path; it starts with one slash, as /sse", value)
	case strings.ContainsAny(value, "?#%\\\" \t") || hasControl(value):
		p.add(field, "%q holds more than a path; write it without query, blanks, quotes and escapes", value)
	case value != "/" && path.Clean(value) != strings.TrimSuffix(value, "/"):
		p.add(field, "%q is not in its shortest form; write %q", value, path.Clean(value))
	}
}
