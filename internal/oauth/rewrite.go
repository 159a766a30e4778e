package oauth

import (
	"context"
	"net/http"
	"net/url"
	"slices"
)

const (
	authenticate     = "Www-Authenticate"
	bearer           = "Bearer"
	resourceMetadata = "resource_metadata"
)

// Rewrite returns the header of an answer of the server as the client shall
// see it: challenges of a 401 or 403 point to the bridge's document, if it has
// one. A 401 without such a pointer gets one; a 403 gets none. Everything else
// of a challenge stays as it was written, and so does a value that cannot be
// read. The given header is not changed. Where the bridge checks tokens itself
// a challenge of the server is no business of clients, and stays.
//
// The first call, and one every few minutes, asks the server for its documents,
// which takes 10 seconds at most.
func (d *Discovery) Rewrite(ctx context.Context, at At, status int, h http.Header) http.Header {
	if d == nil || d.cfg.Own != nil || at.Base == (Base{}) || status != http.StatusUnauthorized && status != http.StatusForbidden {
		return h
	}
	read := readAll(h.Values(authenticate))
	if hint := read.hint(); hint != "" {
		d.heard(hint)
	} else if status == http.StatusForbidden {
		return h
	}
	if !d.described(ctx) {
		return h
	}
	out := h.Clone()
	if out == nil {
		out = http.Header{}
	}
	out[authenticate] = read.pointedTo(d.Metadata(at))
	return out
}

// values are those of a WWW-Authenticate header, each with what it says; one
// that cannot be read says nothing.
type values []value

type value struct {
	text string
	says []Challenge
}

func readAll(texts []string) values {
	all := make(values, len(texts))
	for i, text := range texts {
		says, _ := ParseChallenges(text) // what cannot be read stays as it is
		all[i] = value{text, says}
	}
	return all
}

// hint returns the first pointer to a document, or "".
func (v values) hint() string {
	for _, one := range v {
		for i := range one.says {
			if to, ok := one.says[i].Param(resourceMetadata); ok && usable(to) {
				return to
			}
		}
	}
	return ""
}

func usable(pointer string) bool {
	u, err := url.Parse(pointer)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// pointedTo returns the values with all pointers leading to a place, and with
// one that does if there was none.
func (v values) pointedTo(to string) []string {
	out := make([]string, len(v))
	found := false
	for i, one := range v {
		var moved bool
		out[i], moved = one.pointedTo(to)
		found = found || moved
	}
	if found { // as always in a 403
		return out
	}
	for i, one := range v {
		if extended, ok := one.extended(to); ok {
			out[i] = extended
			return out
		}
	}
	added := Challenge{Scheme: bearer, Params: []Param{{Name: resourceMetadata, Value: to}}}
	// In front of what may be unreadable: many clients read all values as one.
	return slices.Insert(out, 0, added.String())
}

// pointedTo replaces the pointers of a value, from the last to the first so
// that places in the text still hold.
func (v value) pointedTo(to string) (text string, found bool) {
	text = v.text
	for i := len(v.says) - 1; i >= 0; i-- {
		if p := v.says[i].param(resourceMetadata); p != nil {
			text, found = text[:p.start]+quote(to)+text[p.end:], true
		}
	}
	return text, found
}

// extended gives the first bearer challenge of a value a pointer.
func (v value) extended(to string) (text string, ok bool) {
	for i := range v.says {
		c := &v.says[i]
		if !c.Is(bearer) || c.Token68 != "" {
			continue
		}
		before := ", "
		if len(c.Params) == 0 {
			before = " "
		}
		return v.text[:c.end] + before + resourceMetadata + "=" + quote(to) + v.text[c.end:], true
	}
	return v.text, false
}
