package oauth

import (
	"context"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// maxToken bounds a token that is looked into, in bytes.
const maxToken = 32 << 10

// Withholds reports that a token must not go to the server: it is a JSON Web
// Token that was issued for the bridge's public URL and not for the server,
// and the operator has not said that the server accepts such tokens. A token
// that cannot be read is not withheld, and nothing about it is verified.
func (d *Discovery) Withholds(ctx context.Context, at At, authorization string) bool {
	if d == nil || d.cfg.Own != nil || d.cfg.Resource == ResourcePublic || at.Base == (Base{}) {
		return false
	}
	named := audience(authorization)
	ours := false
	for _, one := range named {
		ours = ours || d.isPublic(at.Base, one)
	}
	if !ours {
		return false
	}
	its := d.names(ctx)
	for _, one := range named {
		if its[normal(one)] {
			return false
		}
	}
	return true
}

// isPublic reports whether an audience is a URL of the route at the bridge.
func (d *Discovery) isPublic(b Base, audience string) bool {
	for _, p := range d.cfg.Paths {
		if normal(audience) == normal(b.URL(p)) {
			return true
		}
	}
	return false
}

// names returns what the server may be called in tokens.
func (d *Discovery) names(ctx context.Context) map[string]bool {
	its := map[string]bool{normal(d.canonical()): true, normal(d.origin): true}
	if p, err := d.protected(ctx); err == nil && p.resource != "" {
		its[normal(p.resource)] = true
	}
	return its
}

// normal returns a URL in a form in which equal ones are equal; another text
// is itself.
func normal(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	origin, ok := originOf(u)
	if !ok {
		return raw
	}
	return origin + strings.TrimRight(u.EscapedPath(), "/")
}

// audience returns for whom a bearer token was issued, as far as it can be
// read.
func audience(authorization string) []string {
	scheme, token, _ := strings.Cut(authorization, " ")
	parts := strings.Split(strings.TrimSpace(token), ".")
	if !strings.EqualFold(scheme, bearer) || len(token) > maxToken || len(parts) != 3 {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return nil
	}
	raw, err := mcp.ParseRaw(text)
	if err != nil {
		return nil
	}
	claims, ok := mcp.ParseObject(raw)
	if !ok {
		return nil
	}
	if one := claims.Text("aud"); one != "" {
		return []string{one}
	}
	var all []string
	if list := claims.Array("aud"); list != nil {
		for i := range list.Len() {
			if one, ok := list.At(i).Text(); ok {
				all = append(all, one)
			}
		}
	}
	return all
}
