package mcp

import (
	"net/http"
	"strings"
)

// EndToEnd reports whether a header of a client may ever reach a server by its
// name: it belongs neither to one connection, nor to a browser's relation with
// the one server it talks to, nor to what the bridge says of itself on each
// leg. The name may be in any case. Names with underscores count as those with
// dashes, since many servers make one of the other (RFC 3875 section 4.1.18).
func EndToEnd(name string) bool {
	name = http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
	return !perHopName(name) && !hasPerHopPrefix(name)
}

func perHopName(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Http2-Settings",
		"Host", "Content-Type", "Content-Length", "Content-Encoding", "Range", "Cache-Control", "Pragma",
		"Accept", "Accept-Encoding", "Accept-Language", "Accept-Charset", "User-Agent", "Last-Event-Id",
		"Cookie", "Cookie2", "Set-Cookie", "Origin", "Referer", "Dnt", "Forwarded", "Via",
		"X-Forwarded", "X-Http-Method", "X-Http-Method-Override", "X-Method-Override", "X-Original-Url", "X-Rewrite-Url",
		"Proxy": // a variable HTTP_PROXY of CGI programs
		return true
	}
	return false
}

func hasPerHopPrefix(name string) bool {
	for _, prefix := range []string{"Sec-", "Mcp-", "Proxy-", "X-Forwarded-", "X-Real-", "Access-Control-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// HeaderRules say which headers of clients reach the server, among those that
// may at all ([EndToEnd]). They are patterns for names, in any case.
type HeaderRules struct {
	Forward []Glob // only these; nil is what the credentials policy says
	Drop    []Glob // none of these, whatever Forward says
}

// Allows reports whether a header may reach the server under a credentials
// policy. Only "forward" lets through what the operator did not name: a header
// of any name may be a credential. Authorization crosses under no other policy,
// even if it is named.
func (r HeaderRules) Allows(name string, c Credentials) bool {
	switch {
	case !EndToEnd(name), named(r.Drop, name):
		return false
	case c != CredentialsForward && strings.EqualFold(name, "Authorization"):
		return false
	case r.Forward != nil:
		return named(r.Forward, name)
	case c == CredentialsForward:
		return true
	}
	return strings.EqualFold(name, "Traceparent") || strings.EqualFold(name, "Tracestate") || strings.EqualFold(name, "Baggage")
}

func named(patterns []Glob, name string) bool {
	for _, p := range patterns {
		if Glob(strings.ToLower(string(p))).Match(strings.ToLower(name)) {
			return true
		}
	}
	return false
}
