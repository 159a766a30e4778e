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

// places lists what the endpoint's listener serves for the route.
func (r Route) places() []place {
	all := []place{{"path", r.Path, "the Streamable HTTP endpoint"}}
	if further, ok := r.FurtherPath(); ok {
		all = append(all, place{"path", further, "the Streamable HTTP endpoint"})
	}
	if stream, messages, ok := r.SSE(); ok {
		all = append(all, place{"sse_path", stream, "the event stream"},
			place{"message_path", messages, "the messages of the HTTP+SSE transport"})
	}
	if own, ok := r.Sockets(); ok {
		all = append(all, place{"ws_path", own, "the WebSocket endpoint"})
	}
	return all
}

// FurtherPath returns the path of the endpoint below a route's own, by which
// clients find it that know the usual name only: /files/mcp of /files. ok is
// false where the path bears that name itself.
func (r Route) FurtherPath() (path string, ok bool) {
	if r.Path == EndpointPath || r.Base() == "" {
		return "", false
	}
	further := r.Base() + EndpointPath
	return further, further != strings.TrimSuffix(r.Path, "/")
}

// Base returns the path below which a route's further paths lie: /files of
// /files, /files/ and /files/mcp.
func (r Route) Base() string {
	return strings.TrimSuffix(strings.TrimSuffix(r.Path, "/"), EndpointPath)
}

// Placed returns the route with the paths that it does not name: /NAME, and
// the others below its base.
func (r Route) Placed() Route {
	if r.Path == "" {
		r.Path = "/" + r.Name
	}
	for _, one := range []struct {
		path *string
		name string
	}{{&r.SSEPath, "/sse"}, {&r.MessagePath, "/messages"}, {&r.WSPath, "/ws"}} {
		if *one.path == "" {
			*one.path = r.Base() + one.name
		}
	}
	return r
}

func (r Route) checkPlaces(p *Problems) {
	further, _ := r.FurtherPath()
	for _, one := range r.places() {
		if one.path == "" || one.path != further {
			checkPath(p, one.field, one.path)
		}
	}
}

// checkRoutes checks what routes have between them: each name and each path
// leads to one thing only. A slash at the end makes no difference.
func (c Config) checkRoutes(p *Problems) {
	if len(c.Routes) == 0 {
		p.add("routes", "there is none; write at least one, with the URL or the command of its MCP server")
	}
	names := map[string]int{}
	for i, r := range c.Routes {
		if first, taken := names[r.Name]; taken {
			p.add(routeAt(i)+".name", "%q is the name of %s too; choose another", r.Name, routeAt(first))
		} else {
			names[r.Name] = i
		}
		if !isRouteName(r.Name) {
			p.add(routeAt(i)+".name", "%q is no name; use letters, digits and any of ._~- in it", r.Name)
		}
	}
	if !c.Stdio {
		c.checkTaken(p)
	}
}

func isRouteName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-") == "" &&
		path.Clean("/"+name) == "/"+name
}

// checkTaken checks that no path leads to two things.
func (c Config) checkTaken(p *Problems) {
	taken := map[string]place{}
	take := func(one place) (free bool) {
		key := strings.TrimSuffix(one.path, "/")
		switch other, is := taken[key]; {
		case !is:
			taken[key] = one
		case other.field != one.field: // what is told twice is one
			p.add(one.field, "%q is the path of %s too; choose another", one.path, other.what)
			return false
		}
		return true
	}
	for i, r := range c.Routes {
		for _, one := range r.places() {
			one.field = routeAt(i) + "." + one.field
			if len(c.Routes) > 1 {
				one.what += " of the route " + r.Name
			}
			if !take(one) {
				break // the others follow from the first
			}
		}
	}
	for _, health := range c.HealthPaths {
		checkPath(p, "health_paths", health)
		take(place{"health_paths", health, "a health check"})
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
