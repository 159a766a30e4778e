package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// server is the authorization server that the MCP server relies on.
type server struct {
	raw    mcp.Raw // its metadata (RFC 8414), as it has it
	issuer string  // "" if it has no metadata or does not say
	openid bool    // it was found by OpenID discovery alone
	silent bool    // it has no metadata: raw holds the default endpoints

	authorize, token, register string // endpoints; "" is none
	resource                   string // what its tokens must be asked for; "" is nothing
}

// untrusted is an authorization server at an origin that may not be asked.
type untrusted struct{ origin string }

func (u *untrusted) Error() string {
	return "the authorization server " + u.origin + " is at another origin than the server, and the operator has not listed it"
}

// Unwrap makes it an absence: only the operator can change it.
func (u *untrusted) Unwrap() error { return errAbsent }

// authorization returns the authorization server of the MCP server.
func (d *Discovery) authorization(ctx context.Context) (server, error) {
	p, err := d.protected(ctx)
	if err != nil && !errors.Is(err, errAbsent) {
		return server{}, err
	}
	has := err == nil
	return d.server.get(ctx, func(ctx context.Context) (s server, err error) {
		if has {
			s, err = d.listed(ctx, p)
		} else {
			s, err = d.ownServer(ctx)
		}
		if odd := new(untrusted); err != nil && (!errors.Is(err, errAbsent) || errors.As(err, &odd)) {
			d.failed(err)
		}
		return s, err
	})
}

// listed reads the metadata of the first authorization server that is listed,
// may be asked and answers.
func (d *Discovery) listed(ctx context.Context, p protected) (server, error) {
	failure := fmt.Errorf("the server lists no authorization server: %w", errAbsent)
	for _, issuer := range p.issuers {
		s, err := d.issuer(ctx, issuer)
		if err == nil {
			if s.resource = p.resource; s.resource == "" && d.upstream != nil {
				s.resource = d.canonical()
			}
			return s, nil
		}
		failure = err
	}
	return server{}, failure
}

// issuer reads the metadata of an authorization server, which must bear the
// name that it was asked for by (RFC 8414, 3.3).
func (d *Discovery) issuer(ctx context.Context, issuer string) (server, error) {
	u, ok := d.fetch.permits(issuer)
	if !ok || u.RawQuery != "" || u.Fragment != "" {
		return server{}, &untrusted{origin: shown(issuer)}
	}
	origin, _ := originOf(u)
	path := strings.TrimRight(u.EscapedPath(), "/")
	places := []string{origin + authorizationServer + path, origin + openidConfiguration + path}
	if path != "" {
		places = append(places, origin+path+openidConfiguration)
	}
	failure := fmt.Errorf("the authorization server %s has no metadata: %w", shown(issuer), errAbsent)
	for i, place := range places {
		doc, err := d.fetch.document(ctx, place)
		if err != nil {
			if !errors.Is(err, errAbsent) {
				failure = err
			}
			continue
		}
		if doc.Text("issuer") != issuer {
			continue
		}
		if s, ok := readServer(doc); ok {
			s.openid = i > 0
			return s, nil
		}
	}
	return server{}, failure
}

// readServer takes metadata that names the two endpoints of a login.
func readServer(doc *mcp.Object) (s server, ok bool) {
	s = server{
		raw: doc.Raw(), issuer: doc.Text("issuer"),
		authorize: endpoint(doc, "authorization_endpoint"), token: endpoint(doc, "token_endpoint"),
		register: endpoint(doc, "registration_endpoint"),
	}
	return s, s.authorize != "" && s.token != ""
}

// endpoint returns a URL of metadata that can be used as one.
func endpoint(doc *mcp.Object, name string) string {
	text := doc.Text(name)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" {
		return ""
	}
	if _, ok := originOf(u); !ok {
		return ""
	}
	return u.String()
}

// ownServer finds the authorization server of an MCP server without protected
// resource metadata: the older rule, by which its metadata is at the server's
// origin, or else three endpoints are there.
func (d *Discovery) ownServer(ctx context.Context) (server, error) {
	doc, err := d.fetch.document(ctx, d.origin+authorizationServer)
	if err == nil {
		if s, ok := readServer(doc); ok {
			return s, nil
		}
		return server{}, errAbsent
	}
	if !errors.Is(err, errAbsent) {
		return server{}, err
	}
	return d.defaults(ctx)
}

// defaults looks whether the default endpoints are there. That they may be
// assumed is not enough: only a server without authorization has none of them.
func (d *Discovery) defaults(ctx context.Context) (server, error) {
	s := server{silent: true, authorize: d.origin + authorizePath, token: d.origin + tokenPath, register: d.origin + registerPath}
	if ok, err := d.exchangesTokens(ctx, s.token); err != nil || !ok {
		return server{}, orAbsent(err)
	}
	if ok, err := d.isThere(ctx, s.authorize); err != nil || !ok {
		return server{}, orAbsent(err)
	}
	doc := mcp.NewObject()
	doc.Set("authorization_endpoint", mcp.Quote(s.authorize))
	doc.Set("token_endpoint", mcp.Quote(s.token))
	if ok, _ := d.isThere(ctx, s.register); ok {
		doc.Set("registration_endpoint", mcp.Quote(s.register))
	}
	doc.Set("response_types_supported", mcp.Strings([]string{"code"}))
	s.raw = doc.Raw()
	return s, nil
}

func orAbsent(err error) error {
	if err != nil {
		return err
	}
	return errAbsent
}

// exchangesTokens asks a token endpoint for nothing. One that is there names
// what is wrong by a word of RFC 6749, 5.2; what answers everything does not.
func (d *Discovery) exchangesTokens(ctx context.Context, raw string) (bool, error) {
	u, _ := d.fetch.permits(raw)
	h := http.Header{"Accept": {"application/json"}, "Content-Type": {formType}}
	res, err := d.fetch.send(ctx, http.MethodPost, u, h, "")
	if err != nil {
		return false, fmt.Errorf("asking %s: %w", shown(raw), err)
	}
	defer res.Body.Close() //nolint:errcheck // it is read
	if res.StatusCode != http.StatusBadRequest && res.StatusCode != http.StatusUnauthorized {
		return false, nil
	}
	var said struct {
		Error string `json:"error"`
	}
	if json.NewDecoder(io.LimitReader(res.Body, maxDocument)).Decode(&said) != nil {
		return false, nil
	}
	words := []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"}
	return slices.Contains(words, said.Error), nil
}

// isThere reports whether something answers at a URL, whatever it says.
func (d *Discovery) isThere(ctx context.Context, raw string) (bool, error) {
	u, _ := d.fetch.permits(raw)
	res, err := d.fetch.send(ctx, http.MethodGet, u, http.Header{}, "")
	if err != nil {
		return false, fmt.Errorf("asking %s: %w", shown(raw), err)
	}
	res.Body.Close() //nolint:errcheck // nothing is read
	return res.StatusCode < 500 && res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusGone, nil
}

// serverDocument makes the metadata that a client reads at the bridge. issuer
// is the name by which it asked. With shims the endpoints of a login are those
// of the bridge, as far as it can pass requests on.
func (d *Discovery) serverDocument(s server, b Base, issuer string, shims bool) *mcp.Object {
	doc, _ := mcp.ParseObject(s.raw)
	doc.Set("issuer", mcp.Quote(issuer))
	// Both speak of the issuer by its own name.
	doc.Delete("signed_metadata")
	doc.Delete("authorization_response_iss_parameter_supported")
	if d.cfg.PKCE && !doc.Has("code_challenge_methods_supported") {
		doc.Set("code_challenge_methods_supported", mcp.Strings([]string{"S256"}))
	}
	if !shims {
		return doc
	}
	doc.Set("authorization_endpoint", mcp.Quote(b.URL(authorizePath)))
	if _, ok := d.fetch.permits(s.token); ok {
		doc.Set("token_endpoint", mcp.Quote(b.URL(tokenPath)))
	}
	if _, ok := d.fetch.permits(s.register); ok && doc.Has("registration_endpoint") {
		doc.Set("registration_endpoint", mcp.Quote(b.URL(registerPath)))
	}
	return doc
}
