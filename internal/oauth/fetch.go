package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Limits of what is read from a server.
const (
	maxDocument  = 64 << 10 // bytes of a document
	maxRedirects = 3
)

// fetcher is the edge of this package: everything that it asks of a server
// passes here or in send. It asks origins that are allowed and no others.
type fetcher struct {
	transport http.RoundTripper
	allowed   map[string]bool // origins
}

// permits reports whether a URL may be asked, and returns it parsed.
func (f *fetcher) permits(raw string) (u *url.URL, ok bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, false
	}
	origin, ok := originOf(u)
	return u, ok && f.allowed[origin]
}

// document reads a JSON object. The error is errAbsent if the server answered
// that there is none, or something that is none.
func (f *fetcher) document(ctx context.Context, raw string) (*mcp.Object, error) {
	for range maxRedirects + 1 {
		u, ok := f.permits(raw)
		if !ok {
			return nil, fmt.Errorf("reading %s: that is not at an origin that the bridge may ask: %w", shown(raw), errAbsent)
		}
		doc, next, err := f.step(ctx, u)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", shown(raw), err)
		}
		if next == "" {
			return doc, nil
		}
		raw = next
	}
	return nil, fmt.Errorf("reading %s: too many redirects: %w", shown(raw), errAbsent)
}

// step asks once. next is where the server sends the reader, on the same
// origin.
func (f *fetcher) step(ctx context.Context, u *url.URL) (doc *mcp.Object, next string, err error) {
	res, err := f.send(ctx, http.MethodGet, u, http.Header{"Accept": {"application/json"}}, "")
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close() //nolint:errcheck // it is read
	switch status := res.StatusCode; {
	case status == http.StatusOK:
		doc, err = object(res.Body)
		return doc, "", err
	case status/100 == 3 && res.Header.Get("Location") != "":
		next, err = onward(u, res.Header.Get("Location"))
		return nil, next, err
	case status == http.StatusTooManyRequests, status >= 500:
		return nil, "", fmt.Errorf("it answered HTTP status %d", status)
	default:
		return nil, "", fmt.Errorf("it answered HTTP status %d: %w", status, errAbsent)
	}
}

// onward resolves a redirect. One to another origin is not followed.
func onward(from *url.URL, location string) (string, error) {
	to, err := from.Parse(location)
	if err != nil {
		return "", fmt.Errorf("its redirect is not a URL: %w", errAbsent)
	}
	was, _ := originOf(from)
	if is, ok := originOf(to); !ok || is != was {
		return "", fmt.Errorf("it redirects to another origin: %w", errAbsent)
	}
	return to.String(), nil
}

func object(body io.Reader) (*mcp.Object, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxDocument {
		return nil, fmt.Errorf("it is larger than %d bytes: %w", maxDocument, errAbsent)
	}
	raw, err := mcp.ParseRaw(text)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", errAbsent)
	}
	doc, ok := mcp.ParseObject(raw)
	if !ok {
		return nil, fmt.Errorf("it is not a JSON object: %w", errAbsent)
	}
	return doc, nil
}

// send makes one exchange. It follows no redirect and keeps no cookie.
func (f *fetcher) send(ctx context.Context, method string, u *url.URL, h http.Header, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body == "" {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	req.Header = h
	req.Header.Set("User-Agent", "mcpbridge")
	req.Header.Set("Accept-Encoding", "identity")
	res, err := f.transport.RoundTrip(req)
	if err != nil {
		var in *url.Error
		if errors.As(err, &in) {
			err = in.Err
		}
		return nil, err
	}
	return res, nil
}

// shown returns a URL as logs may show it.
func shown(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(not a URL)"
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment = nil, "", false, ""
	return u.String()
}
