package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The endpoints at the bridge's origin, where the older revisions have them.
const (
	authorizePath = "/authorize"
	tokenPath     = "/token"
	registerPath  = "/register"
)

const (
	formType  = "application/x-www-form-urlencoded"
	jsonType  = "application/json"
	relayTime = 20 * time.Second
	maxAnswer = 256 << 10 // bytes of an answer of an authorization server
)

// relay serves an endpoint of a login that the authorization server really
// has. No web page may use it but those that may use the bridge.
func (s Site) relay(d *Discovery, method string, pass func(http.ResponseWriter, *http.Request, server)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.Method != method {
			notAllowed(w, method)
			return
		}
		if s.Check == nil || s.Check(r) != nil {
			fail(w, http.StatusForbidden, "access_denied", "the request comes from a host or a web page that this bridge does not serve")
			return
		}
		as, err := d.authorization(r.Context())
		if err != nil {
			explain(w, err)
			return
		}
		if at := s.At(r); d.cfg.Own != nil && at.Base != (Base{}) {
			as.resource = at.Base.URL(d.cfg.Paths[0])
		}
		pass(w, r, as)
	})
}

// passAuthorize sends a person's browser on to the authorization server. What
// the client says stays; a client that names no resource gets one.
func (d *Discovery) passAuthorize(w http.ResponseWriter, r *http.Request, as server) {
	query, err := withResource(r.URL.RawQuery, as.resource)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request", "the query cannot be read")
		return
	}
	to, err := url.Parse(as.authorize)
	if err != nil {
		explain(w, errAbsent)
		return
	}
	if to.RawQuery != "" && query != "" {
		query = to.RawQuery + "&" + query
	} else {
		query = to.RawQuery + query
	}
	to.RawQuery = query
	w.Header().Set("Location", to.String())
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusFound)
}

// passToken passes on a request for tokens.
func (d *Discovery) passToken(w http.ResponseWriter, r *http.Request, as server) {
	d.passOn(w, r, as.token, formType, func(body string) (string, error) { return withResource(body, as.resource) })
}

// passRegister passes on the registration of a client (RFC 7591).
func (d *Discovery) passRegister(w http.ResponseWriter, r *http.Request, as server) {
	d.passOn(w, r, as.register, jsonType, func(body string) (string, error) { return body, nil })
}

// withResource adds the resource to a form, or to a query, that names none
// (RFC 8707, 2). All else stays as it was written.
func withResource(form, resource string) (string, error) {
	for i := range len(form) {
		if form[i] <= ' ' || form[i] >= 0x7f {
			return "", errors.New("oauth: a form has characters that must be escaped")
		}
	}
	said, err := url.ParseQuery(form)
	if err != nil {
		return "", err
	}
	if resource == "" || said.Has("resource") {
		return form, nil
	}
	if form != "" {
		form += "&"
	}
	return form + "resource=" + url.QueryEscape(resource), nil
}

// passOn passes a request on to an endpoint, and the answer back.
func (d *Discovery) passOn(w http.ResponseWriter, r *http.Request, to, contentType string, edit func(string) (string, error)) {
	u, ok := d.fetch.permits(to)
	if !ok {
		fail(w, http.StatusNotFound, "not_found", "the authorization server has no such endpoint that the bridge may ask")
		return
	}
	body, ok := readForm(w, r, contentType)
	if !ok {
		return
	}
	text, err := edit(body)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request", "the form cannot be read")
		return
	}
	select {
	case d.busy <- struct{}{}:
		defer func() { <-d.busy }()
	default:
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, "temporarily_unavailable", "too many requests are on their way to the authorization server")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), relayTime)
	defer cancel()
	res, answer, err := d.exchange(ctx, r, u, text)
	if err != nil {
		d.failed(fmt.Errorf("asking %s: %w", shown(to), err))
		fail(w, http.StatusBadGateway, "server_error", "the authorization server could not be asked; try again later")
		return
	}
	copyHeader(w.Header(), res.Header, "Content-Type", "Cache-Control", "Pragma", "Www-Authenticate", "Retry-After")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(res.StatusCode)
	w.Write(answer) //nolint:errcheck // the client left
}

// readForm reads the body of a request; it answers one that it cannot read.
func readForm(w http.ResponseWriter, r *http.Request, contentType string) (body string, ok bool) {
	if is, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || is != contentType {
		fail(w, http.StatusUnsupportedMediaType, "invalid_request", "the request must be of the type "+contentType)
		return "", false
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxDocument))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, "invalid_request", fmt.Sprintf("the request is longer than %d bytes, or broke off", maxDocument))
		return "", false
	}
	return string(text), true
}

// exchange asks an authorization server. The credentials that a client gave
// for it are the only ones that it gets.
func (d *Discovery) exchange(ctx context.Context, r *http.Request, u *url.URL, body string) (*http.Response, []byte, error) {
	h := http.Header{}
	copyHeader(h, r.Header, "Accept", "Authorization", "Content-Type")
	res, err := d.fetch.send(ctx, http.MethodPost, u, h, body)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close() //nolint:errcheck // it is read
	if res.StatusCode/100 == 3 {
		return nil, nil, fmt.Errorf("it answered HTTP status %d, a redirect, which is not followed", res.StatusCode)
	}
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err == nil && len(answer) > maxAnswer {
		err = fmt.Errorf("its answer is larger than %d bytes", maxAnswer)
	}
	return res, answer, err
}

func copyHeader(to, from http.Header, names ...string) {
	for _, name := range names {
		if v := from.Values(name); len(v) > 0 && strings.TrimSpace(v[0]) != "" {
			to[name] = v
		}
	}
}
