package sse

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/transports/web"
)

// targets are the URLs to which messages may have to be posted: where the
// server says, and where it would say if it knew the prefix that a proxy in
// front of it takes away. The second is nil where there is none.
type targets struct{ said, prefixed *url.URL }

// resolve reads an endpoint event of the stream at that URL (RFC 3986 section
// 5; vector T71). Credentials go to the stream's own origin only.
func (c *Client) resolve(stream *url.URL, reference string) (targets, error) {
	said, err := stream.Parse(strings.TrimSpace(reference))
	if err != nil {
		return targets{}, fmt.Errorf("%w: it is no URI", errNoEndpoint)
	}
	said.Fragment, said.User = "", nil
	if c.message != nil {
		chosen := *c.message
		chosen.RawQuery = joinQuery(chosen.RawQuery, said.RawQuery)
		return targets{said: &chosen}, nil
	}
	if web.Origin(said) != web.Origin(stream) {
		return targets{}, errForeign
	}
	return targets{said: said, prefixed: withPrefix(stream, said)}, nil
}

func joinQuery(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
}

// withPrefix returns the endpoint under the prefix of the stream's URL, nil
// when it is under it already. A proxy that maps /api/v1/sse to /v1/sse makes
// the server say /v1/messages: what the stream's directory ends with and the
// endpoint begins with is the server's own, what stands before is the
// proxy's. A server that adds the prefix twice is met by taking one away
// (field report 35).
func withPrefix(stream, said *url.URL) *url.URL {
	dir := strings.Split(stream.EscapedPath(), "/")
	dir = dir[:len(dir)-1] // "", and the directories
	if len(dir) < 2 {
		return nil
	}
	path := strings.Split(said.EscapedPath(), "/")
	own := overlap(dir[1:], path[1:])
	switch {
	case own < len(dir)-1:
		path = append(slices.Clone(dir[:len(dir)-own]), path[1:]...)
	case overlap(dir[1:], path[1+own:]) == own:
		path = append([]string{""}, path[1+own:]...)
	default:
		return nil
	}
	return withPath(said, strings.Join(path, "/"))
}

// overlap returns how many elements at the end of dir are those at the start
// of path.
func overlap(dir, path []string) int {
	for n := min(len(dir), len(path)); n > 0; n-- {
		if slices.Equal(dir[len(dir)-n:], path[:n]) {
			return n
		}
	}
	return 0
}

func withPath(u *url.URL, escaped string) *url.URL {
	plain, err := url.PathUnescape(escaped)
	if err != nil {
		return nil
	}
	to := *u
	to.Path, to.RawPath = plain, escaped
	return &to
}
