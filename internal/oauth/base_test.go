package oauth

import (
	"net/url"
	"testing"
)

func TestParseBase(t *testing.T) {
	for in, want := range map[string]string{
		"https://mcp.example.com":          "https://mcp.example.com/a/mcp",
		"https://MCP.Example.com:443/":     "https://mcp.example.com/a/mcp",
		"http://mcp.example.com:80":        "http://mcp.example.com/a/mcp",
		"http://localhost:8080":            "http://localhost:8080/a/mcp",
		"https://mcp.example.com/api/":     "https://mcp.example.com/api/a/mcp",
		"https://mcp.example.com/a\"b":     "https://mcp.example.com/a%22b/a/mcp",
		"https://[2001:db8::1]:8443/x":     "https://[2001:db8::1]:8443/x/a/mcp",
		"https://mcp.example.com/api%20/b": "https://mcp.example.com/api%20/b/a/mcp",
	} {
		if b, err := ParseBase(in); err != nil || b.URL("/a/mcp/") != want {
			t.Errorf("%s: %q, %v; want %q", in, b.URL("/a/mcp/"), err, want)
		}
	}
	for _, in := range []string{
		"", "mcp.example.com", "ftp://a", "ws://a", "https://", "https://u:p@a", "https://a?b", "https://a?", "https://a#", "https://a#b", "https:a",
		"https://a:0", "https://a:99999", "https://a:", "https://a:080", "https://a b", "https://a%22", "https://[::1%25eth0]", "https://[::1", "https://ä.example", "\x7f",
	} {
		if b, err := ParseBase(in); err == nil {
			t.Errorf("%q is %+v", in, b)
		}
	}
}

func TestBaseAt(t *testing.T) {
	for name, c := range map[string]struct {
		u    *url.URL
		want string // "" is none
	}{
		"plain":    {&url.URL{Scheme: "http", Host: "Localhost:8080"}, "http://localhost:8080"},
		"TLS":      {&url.URL{Scheme: "https", Host: "bridge.example:443"}, "https://bridge.example"},
		"prefix":   {&url.URL{Scheme: "https", Host: "a", Path: "/x y/", RawPath: "/x%20y/"}, "https://a/x%20y"},
		"ws":       {&url.URL{Scheme: "ws", Host: "a"}, ""},
		"quote":    {&url.URL{Scheme: "http", Host: `b"x`}, ""},
		"user":     {&url.URL{Scheme: "http", Host: "u@a"}, ""},
		"path":     {&url.URL{Scheme: "http", Host: "a/b"}, ""},
		"line end": {&url.URL{Scheme: "http", Host: "a\r\nb"}, ""},
		"no host":  {&url.URL{Scheme: "http"}, ""},
		"none":     {nil, ""},
	} {
		if b, ok := BaseAt(c.u); ok != (c.want != "") || b.URL("/") != c.want {
			t.Errorf("%s: %q, %v; want %q", name, b.URL("/"), ok, c.want)
		}
	}
}

// The name of a document stands between the origin and the path (RFC 9728,
// 3.1), whatever a proxy takes away.
func TestWellKnown(t *testing.T) {
	b, err := ParseBase("https://a.example/api")
	if err != nil {
		t.Fatal(err)
	}
	if got := b.wellKnown(protectedResource, "/x y/mcp"); got != "https://a.example/.well-known/oauth-protected-resource/api/x%20y/mcp" {
		t.Error(got)
	}
	if got := b.wellKnown(protectedResource, "/"); got != "https://a.example/.well-known/oauth-protected-resource/api" {
		t.Error(got)
	}
}
