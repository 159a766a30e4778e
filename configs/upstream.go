package configs

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// checkUpstream reports a URL that cannot be an upstream. Its texts never
// repeat the URL: it may hold a password, or be one that was pasted in the
// wrong place.
func checkUpstream(p *Problems, raw string) {
	const field = "upstream"
	if raw == "" {
		p.add(field, "no upstream was given; tell the URL of the MCP server, as http://127.0.0.1:3000/mcp, or its command after --")
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		p.add(field, "this is not a URL; write it as http://127.0.0.1:3000/mcp")
	case u.Opaque != "" || u.Scheme == "" || u.Scheme != "http" && u.Scheme != "https" && !isSocketScheme(u.Scheme):
		checkScheme(p, u)
	case u.Hostname() == "":
		p.add(field, "the URL has no host; write it as http://127.0.0.1:3000/mcp")
	case !validPort(u.Port()):
		p.add(field, "the port of the URL is not a number from 1 to 65535")
	case u.User != nil:
		p.add(field, "the URL holds a user name or password; give them in a header file, as Authorization: Basic ...")
	case u.Fragment != "":
		p.add(field, "the URL has a fragment (#...), which no server sees")
	}
}

// checkScheme explains the schemes that other bridges know.
func checkScheme(p *Problems, u *url.URL) {
	const field = "upstream"
	switch u.Scheme {
	case "stdio", "sse", "unix":
		p.add(field, "the scheme %s:// is not supported by this version; use http://, https://, ws:// or wss://", u.Scheme)
	default:
		p.add(field, "this is not an http://, https://, ws:// or wss:// URL; write it as http://127.0.0.1:3000/mcp")
	}
}

func validPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n > 0 && n <= 65535
}

// Redacted returns a URL as logs may show it: without credentials, and
// without the values of its query, which may be some.
func Redacted(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(not a URL)"
	}
	u.User = nil
	if u.RawQuery != "" {
		u.RawQuery = "..."
	}
	u.Fragment = ""
	return u.String()
}

// Cause words an error without the URL that an HTTP client puts into it: its
// query may hold a credential.
func Cause(err error) string {
	text := err.Error()
	var in *url.Error
	if errors.As(err, &in) {
		text = strings.ReplaceAll(text, in.Error(), in.Err.Error())
	}
	return text
}
