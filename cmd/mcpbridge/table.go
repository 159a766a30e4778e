package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/internal/oauth"
	"github.com/mcpbridge/mcpbridge/mcp"
)

// table finds what is served at a path.
type table struct {
	places map[string]*place
	lost   []byte // the answer everywhere else
}

// place is what there is at a path.
type place struct {
	now    http.Handler // takes all that belongs to nobody else; may be nil
	by     *served      // the route of now, nil where it is none
	former []*served    // routes that were found here and may have sessions that go on
}

// newTable places the routes: what is configured, and what is left of earlier
// configurations, for the sessions that go on there. A slash at the end of a
// path makes no difference.
func newTable(cfg configs.Config, routes map[string]*served, gone []*served, site *oauth.Site) *table {
	t := &table{places: map[string]*place{}}
	var ends []string
	for _, r := range cfg.Routes {
		one := routes[r.Name]
		ends = append(ends, r.Path)
		t.add(r.Path, one.endpoint, one)
		if stream, messages, ok := r.SSE(); ok {
			t.add(stream, one.events, one)
			t.add(messages, one.messages, one)
		}
		if path, ok := r.Sockets(); ok {
			t.add(path, one.sockets, one)
		}
	}
	for _, path := range cfg.HealthPaths {
		t.add(path, http.HandlerFunc(answerOK), nil)
	}
	for _, r := range cfg.Routes {
		if further, ok := r.FurtherPath(); ok {
			t.add(further, routes[r.Name].endpoint, routes[r.Name])
		}
	}
	if site != nil {
		t.addLogins(cfg, routes, *site)
	}
	for _, r := range cfg.Routes {
		t.addPast(routes[r.Name])
	}
	for _, one := range gone {
		t.addPast(one)
	}
	t.lost = []byte(`{"error":"not found","message":"` + whereabouts(ends) + `"}` + "\n")
	return t
}

// addLogins places the documents that tell where to log in.
func (t *table) addLogins(cfg configs.Config, routes map[string]*served, site oauth.Site) {
	var all []*oauth.Discovery
	for _, r := range cfg.Routes {
		if login := routes[r.Name].engine.login; login != nil {
			all = append(all, login())
		}
	}
	for path, h := range site.Endpoints(all) {
		t.add(path, h, nil)
	}
}

// add serves a path, unless something else is served there.
func (t *table) add(path string, h http.Handler, by *served) {
	if h == nil {
		return
	}
	if at := t.at(path); at.now == nil {
		at.now, at.by = h, by
	}
}

// addPast leaves the sessions of a route where its clients found it.
func (t *table) addPast(one *served) {
	for _, path := range one.past {
		if at := t.at(path); at.by != one {
			at.former = append(at.former, one)
		}
	}
}

func (t *table) at(path string) *place {
	path = strings.TrimSuffix(path, "/")
	if t.places[path] == nil {
		t.places[path] = &place{}
	}
	return t.places[path]
}

// whereabouts tells a lost client where to go. What routes there are is
// nobody's business who knows none.
func whereabouts(ends []string) string {
	if len(ends) == 1 {
		return "the MCP endpoint is " + ends[0]
	}
	return "no MCP server is served at this path"
}

// lasting are the paths by which running sessions go on to be served when the
// route has moved or is gone.
func (s *served) lasting() []string {
	all := []string{s.Path, s.MessagePath}
	if further, ok := s.FurtherPath(); ok {
		all = append(all, further)
	}
	return all
}

// earlier returns all paths at which clients found the route until now.
func (s *served) earlier() []string {
	all := slices.Clone(s.past)
	for _, path := range s.lasting() {
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

// goesOn serves what belongs to a session at a path that has no new ones.
func (s *served) goesOn(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get(mcp.HeaderSession) != "":
		s.endpoint.ServeHTTP(w, r)
	case s.messages != nil && r.Method == http.MethodPost && r.URL.RawQuery != "":
		s.messages.ServeHTTP(w, r)
	default:
		notFound(w, []byte(`{"error":"not found","message":"this server has moved, or is no longer served here"}`+"\n"))
	}
}

// ServeHTTP serves a session by the route that has it, also where another
// route is found by now.
func (p *place) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, one := range p.former {
		if one.engine.holds != nil && one.engine.holds(r) {
			one.goesOn(w, r)
			return
		}
	}
	if p.now != nil {
		p.now.ServeHTTP(w, r)
		return
	}
	p.former[0].goesOn(w, r)
}

// ServeHTTP implements http.Handler.
func (t *table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if at := t.places[strings.TrimSuffix(r.URL.Path, "/")]; at != nil {
		at.ServeHTTP(w, r)
		return
	}
	notFound(w, t.lost)
}

func notFound(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	w.Write(text) //nolint:errcheck // the client left
}
