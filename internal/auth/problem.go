package auth

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Problem is how a request must be answered that did not authenticate. It
// says in Reason, for the operator, what it does not tell the client.
type Problem struct {
	Status    int
	Challenge string // the WWW-Authenticate header, or ""
	Text      string // for the client
	Reason    Reason // for logs and metrics
}

// Error implements error, with the reason.
func (p *Problem) Error() string { return "auth: refused: " + string(p.Reason) }

// SetHeader sets the headers that the answer needs beside those of its body.
func (p *Problem) SetHeader(h http.Header) {
	if p.Challenge != "" {
		h.Set("Www-Authenticate", p.Challenge)
	}
	if p.Status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "5")
	}
	h.Set("Cache-Control", "no-store")
}

// ServeHTTP writes the answer: a JSON-RPC error without id, since nothing of
// the body was read.
func (p *Problem) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	body := mcp.Errorf(mcp.CodeInvalidRequest, "%s", p.Text).Failure(mcp.ID{}).Bytes()
	h := w.Header()
	p.SetHeader(h)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // a client that left needs no answer
}

const (
	textNone        = "this endpoint needs an access token: send Authorization: Bearer with one that the bridge accepts"
	textInvalid     = "the access token is not accepted: get a new one, and send it as Authorization: Bearer"
	textMalformed   = "the request shows its credentials in a way that is not accepted: send one Authorization header, as Bearer and a token, and none in the URL"
	textScope       = "the access token does not have the scopes that this endpoint needs: get one that has"
	textCertificate = "this endpoint needs a client certificate that the bridge knows: configure the client with one"
	textLater       = "the bridge cannot check the access token now: try again in a few seconds"
)

// problem words a refusal. The error codes are those of RFC 6750 section 3.1;
// a request without credentials is told none.
func (a *Authenticator) problem(r *http.Request, reason Reason, scopes []string) *Problem {
	p := &Problem{Status: http.StatusUnauthorized, Text: textInvalid, Reason: reason}
	code := "invalid_token"
	switch reason {
	case KeysUnavailable, TooManyAtOnce:
		return &Problem{Status: http.StatusServiceUnavailable, Text: textLater, Reason: reason}
	case NoCredential, BadCertificate:
		p.Text, code = textNone, ""
	case TokenInQuery, SeveralHeaders, TooLong:
		p.Status, p.Text, code = http.StatusBadRequest, textMalformed, "invalid_request"
	case MissingScope:
		p.Status, p.Text, code = http.StatusForbidden, textScope, "insufficient_scope"
	}
	if !a.bearer() {
		// No authentication scheme stands for certificates, so a 401 is not to
		// be had (RFC 9110 section 15.5.2).
		if p.Status == http.StatusUnauthorized {
			p.Status, p.Text = http.StatusForbidden, textCertificate
		}
		return p
	}
	if scopes == nil {
		scopes = a.scopes
	}
	p.Challenge = challenge(code, scopes, a.metadata(r))
	return p
}

// challenge writes a WWW-Authenticate header (RFC 6750 section 3, RFC 9728
// section 5.1). It names no realm: there is nothing to tell apart.
func challenge(code string, scopes []string, metadata string) string {
	var params []string
	for _, p := range [][2]string{{"error", code}, {"scope", strings.Join(scopes, " ")}, {"resource_metadata", metadata}} {
		if p[1] != "" {
			params = append(params, p[0]+`="`+p[1]+`"`)
		}
	}
	return strings.TrimSpace("Bearer " + strings.Join(params, ", "))
}

// metadata returns the URL of the discovery document, "" when there is none or
// it cannot stand in a header: it may hold a host that a client named.
func (a *Authenticator) metadata(r *http.Request) string {
	if a.resourceMetadata == nil {
		return ""
	}
	u := a.resourceMetadata(r)
	if strings.ContainsFunc(u, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '\\' }) {
		return ""
	}
	return u
}

// union returns the scopes of all issuers, each once.
func union(issuers []Issuer) []string {
	var all []string
	for _, i := range issuers {
		all = append(all, i.Scopes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
