package configs

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// ParseHeader reads "Name: value". Its errors continue the name of the place
// where the text stood, and never repeat the text: it is often a secret.
func ParseHeader(line string) (name, value string, err error) {
	name, value, ok := strings.Cut(line, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case !ok:
		return "", "", errors.New("a header is written as 'Name: value'; the colon is missing")
	case !isToken(name):
		return "", "", errors.New("the text before the colon is not the name of a header")
	case value == "":
		return "", "", fmt.Errorf("the header %s has no value", name)
	case hasControl(value):
		return "", "", fmt.Errorf("the value of the header %s holds a control character", name)
	}
	return http.CanonicalHeaderKey(name), value, nil
}

// reserved returns the headers that the bridge itself writes on its leg.
func reserved() []string {
	return []string{
		"Host", "Connection", "Content-Length", "Content-Type", "Transfer-Encoding", "Accept",
		"Keep-Alive", "Te", "Trailer", "Upgrade", "Proxy-Connection",
		mcp.HeaderSession, mcp.HeaderVersion, mcp.HeaderLastID,
	}
}

func (r Route) checkHeaders(p *Problems) {
	for name, values := range r.Headers {
		switch {
		case !isToken(name):
			p.add("headers", "a name holds a character that no header name has")
		case slices.Contains(reserved(), http.CanonicalHeaderKey(name)):
			p.add("headers", "%s is written by the bridge and cannot be set", name)
		case slices.ContainsFunc(values, hasControl):
			p.add("headers", "the value of %s holds a control character", name)
		}
	}
	if r.Credentials == "" {
		return
	}
	p.oneOf("credentials", string(r.Credentials), mcp.CredentialNames())
	if r.Headers.Get("Authorization") != "" && r.Credentials != mcp.CredentialsStatic {
		p.add("credentials", "%q contradicts the static Authorization header; use %q, or leave the header out",
			r.Credentials, mcp.CredentialsStatic)
	}
}

// HeaderRules returns which of the clients' headers the upstream gets.
func (r Route) HeaderRules() mcp.HeaderRules {
	return mcp.HeaderRules{Forward: globs(r.ForwardHeaders), Drop: globs(r.DropHeaders)}
}

// globs keeps apart no list and an empty one.
func globs(texts []string) []mcp.Glob {
	if texts == nil {
		return nil
	}
	all := []mcp.Glob{}
	for _, text := range texts {
		all = append(all, mcp.Glob(text))
	}
	return all
}

// checkHeaderRules checks patterns, and names that would have no effect.
func (r Route) checkHeaderRules(p *Problems) {
	for field, names := range map[string][]string{"forward_headers": r.ForwardHeaders, "drop_headers": r.DropHeaders} {
		for i, name := range names {
			at := field + "[" + strconv.Itoa(i) + "]"
			pattern := strings.ContainsAny(name, `*?[\`)
			switch err := mcp.Glob(name).Valid(); {
			case pattern && err != nil:
				p.add(at, "%v", err)
			case !pattern && !isToken(name):
				p.add(at, "%q is not the name of a header", name)
			case !pattern && field == "forward_headers" && !mcp.EndToEnd(name):
				p.add(at, "%s belongs to one connection, to a browser or to the bridge itself, and never crosses; leave it out", name)
			}
		}
	}
	own := mcp.HeaderRules{Forward: globs(r.ForwardHeaders)}
	if c := r.EffectiveCredentials(); r.ForwardHeaders != nil && c == mcp.CredentialsForward && r.Credentials != "" && !own.Allows("Authorization", c) {
		p.add("forward_headers", "Authorization is not among them, and credentials are to be forwarded; add it, or leave credentials out")
	}
}

// isToken reports whether s is a field name (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for _, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		digit := c >= '0' && c <= '9'
		if !letter && !digit && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 && r != '\t' || r == 0x7f })
}
