package auth

import (
	"net/http"
	"net/url"
	"strings"
)

// MaxToken is the length in bytes up to which a bearer token is looked at.
const MaxToken = 16 << 10

// presented returns the bearer token of a request; it is "" when the request
// carries none. Nothing is decoded yet.
func presented(r *http.Request) (token string, reason Reason) {
	if inQuery(r.URL) {
		return "", TokenInQuery
	}
	values := r.Header["Authorization"]
	switch len(values) {
	case 0:
		return "", NoCredential
	case 1:
		return parseBearer(values[0])
	}
	return "", SeveralHeaders
}

// parseBearer takes an Authorization header apart (RFC 6750 section 2.1). A
// header of another scheme is no credential here.
func parseBearer(header string) (token string, reason Reason) {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", NoCredential
	}
	if len(token) > MaxToken {
		return "", TooLong
	}
	token = strings.TrimLeft(token, " ")
	if !isB64Token(token) {
		return "", Malformed
	}
	return token, accepted
}

// isB64Token reports whether s is what RFC 6750 lets a bearer token be.
func isB64Token(s string) bool {
	body := strings.TrimRight(s, "=")
	for i := range len(body) {
		c := body[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("-._~+/", c) < 0 {
			return false
		}
	}
	return body != ""
}

// inQuery reports whether a URL carries a token. URLs end in the logs of
// everything on the way, so none is taken from there (MCP basic
// "Authorization", Token Requirements), and a client that sends one must hear
// of it.
func inQuery(u *url.URL) bool {
	if u.RawQuery == "" {
		return false
	}
	values, _ := url.ParseQuery(u.RawQuery) // what cannot be read is no token
	for name := range values {
		if strings.EqualFold(name, "access_token") {
			return true
		}
	}
	return false
}
