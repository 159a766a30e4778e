package web_test

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/transports/web"
)

// arrived is a request from a peer, with "Name: value" lines.
func arrived(networks []netip.Prefix, peer, host string, lines ...string) *http.Request {
	r := &http.Request{RemoteAddr: peer, Host: host, Header: http.Header{}}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	p := new(web.Proxies)
	p.Trust(networks)
	return r.WithContext(web.WithProxies(context.Background(), p))
}

func networks(all ...string) []netip.Prefix {
	list := []netip.Prefix{}
	for _, one := range all {
		list = append(list, netip.MustParsePrefix(one))
	}
	return list
}

// Only a trusted peer says by X-Forwarded-* where a client came from and what
// it typed.
func TestForwardedFields(t *testing.T) {
	const local, foreign, proxy = "127.0.0.1:5", "203.0.113.9:5", "10.1.2.3:5"
	ours := networks("10.0.0.0/8", "fd00::/8")
	all := []string{"X-Forwarded-Proto: https", "X-Forwarded-Host: mcp.example.com", "X-Forwarded-Prefix: /api", "X-Forwarded-For: 198.51.100.7"}
	for name, c := range map[string]struct {
		networks    []netip.Prefix
		peer        string
		lines       []string
		url, client string
	}{
		"loopback by default":      {nil, local, all, "https://mcp.example.com/api", "198.51.100.7"},
		"loopback, IPv6":           {nil, "[::1]:5", all, "https://mcp.example.com/api", "198.51.100.7"},
		"loopback, mapped":         {nil, "[::ffff:127.0.0.1]:5", all, "https://mcp.example.com/api", "198.51.100.7"},
		"socket file":              {networks(), "@", all, "https://mcp.example.com/api", "198.51.100.7"},
		"a foreigner":              {nil, foreign, all, "http://bridge:8080", foreign},
		"a foreigner, with a list": {ours, foreign, all, "http://bridge:8080", foreign},
		"loopback is not listed":   {ours, local, all, "http://bridge:8080", local},
		"nobody":                   {networks(), local, all, "http://bridge:8080", local},
		"a listed one":             {ours, proxy, all, "https://mcp.example.com/api", "198.51.100.7"},
		"a listed one, mapped":     {ours, "[::ffff:10.1.2.3]:5", all, "https://mcp.example.com/api", "198.51.100.7"},
		"a listed one, zone":       {networks("fe80::/10"), "[fe80::1%eth0]:5", all, "https://mcp.example.com/api", "198.51.100.7"},
		"says nothing":             {ours, proxy, nil, "http://bridge:8080", proxy},
		"a chain":                  {ours, proxy, []string{"X-Forwarded-For: 198.51.100.7, 10.9.9.9", "X-Forwarded-For: 10.8.8.8"}, "http://bridge:8080", "198.51.100.7"},
		"a client that lies":       {ours, proxy, []string{"X-Forwarded-For: 10.0.0.1, 127.0.0.1, 198.51.100.7"}, "http://bridge:8080", "198.51.100.7"},
		"all are proxies":          {ours, proxy, []string{"X-Forwarded-For: 10.0.0.1, 10.0.0.2"}, "http://bridge:8080", "10.0.0.1"},
		"a port":                   {ours, proxy, []string{"X-Forwarded-For: 198.51.100.7:80"}, "http://bridge:8080", "198.51.100.7"},
		"IPv6":                     {ours, proxy, []string{`X-Forwarded-For: [2001:db8::1]`}, "http://bridge:8080", "2001:db8::1"},
		"no address":               {ours, proxy, []string{"X-Forwarded-For: 198.51.100.7, \"level\":\"error\""}, "http://bridge:8080", proxy},
		"hosts, the last":          {ours, proxy, []string{"X-Forwarded-Host: evil.example, mcp.example.com"}, "http://mcp.example.com", proxy},
		"a host with a port":       {ours, proxy, []string{"X-Forwarded-Host: mcp.example.com:8443"}, "http://mcp.example.com:8443", proxy},
		"an IPv6 host":             {ours, proxy, []string{"X-Forwarded-Host: [2001:db8::1]:80"}, "http://[2001:db8::1]:80", proxy},
		"a host with more":         {ours, proxy, []string{"X-Forwarded-Host: evil.example/x?"}, "http://bridge:8080", proxy},
		"a host with a user":       {ours, proxy, []string{"X-Forwarded-Host: mcp.example.com@evil.example"}, "http://bridge:8080", proxy},
		"a host with a bad port":   {ours, proxy, []string{"X-Forwarded-Host: evil.example:x"}, "http://bridge:8080", proxy},
		"another scheme":           {ours, proxy, []string{"X-Forwarded-Proto: javascript"}, "http://bridge:8080", proxy},
		"a WebSocket":              {ours, proxy, []string{"X-Forwarded-Proto: WSS"}, "https://bridge:8080", proxy},
		"a prefix that is a host":  {ours, proxy, []string{"X-Forwarded-Prefix: //evil.example"}, "http://bridge:8080", proxy},
		"an escaped prefix":        {ours, proxy, []string{"X-Forwarded-Prefix: /a%2Fb"}, "http://bridge:8080/a%2Fb", proxy},
		"a malformed escape":       {ours, proxy, []string{"X-Forwarded-Prefix: /a%zz"}, "http://bridge:8080", proxy},
	} {
		t.Run(name, func(t *testing.T) {
			r := arrived(c.networks, c.peer, "bridge:8080", c.lines...)
			if got := web.PublicURL(r); got == nil || got.String() != c.url {
				t.Errorf("the public URL is %v, want %s", got, c.url)
			}
			if got := web.ClientAddress(r); got != c.client {
				t.Errorf("the client is %q, want %q", got, c.client)
			}
		})
	}
}

func TestPublicURLOfTheRequest(t *testing.T) {
	r := arrived(nil, "203.0.113.9:5", "MCP.Example.com")
	r.TLS = new(tls.ConnectionState)
	if got := web.PublicURL(r); got.String() != "https://mcp.example.com" {
		t.Errorf("%v", got)
	}
	for _, host := range []string{"", "a b", "evil.example/", "[::1", "a:b:c", `a"b`} {
		if got := web.PublicURL(arrived(nil, "203.0.113.9:5", host)); got != nil {
			t.Errorf("%q: %v", host, got)
		}
	}
}

// Trust counts for requests under way too, as their connection stays.
func TestProxiesChange(t *testing.T) {
	p := new(web.Proxies)
	r := (&http.Request{RemoteAddr: "127.0.0.1:5"}).WithContext(web.WithProxies(context.Background(), p))
	for _, c := range []struct {
		networks []netip.Prefix
		want     bool
	}{{nil, true}, {networks(), false}, {networks("127.0.0.0/8"), true}, {nil, true}} {
		if p.Trust(c.networks); web.FromProxy(r) != c.want {
			t.Errorf("%v: %v", c.networks, !c.want)
		}
	}
	if !web.FromProxy(&http.Request{RemoteAddr: "[::1]:5"}) {
		t.Error("without proxies loopback peers are not trusted")
	}
}
