package transports

import (
	"crypto/tls"
	"net/http/httptest"
	"testing"
)

func TestGuard(t *testing.T) {
	for name, c := range map[string]struct {
		address        string
		hosts, origins []string
		host, origin   string
		tls, ok        bool
	}{
		"localhost":                 {address: "127.0.0.1:8180", host: "localhost:8180", ok: true},
		"upper case":                {address: "127.0.0.1:8180", host: "LOCALHOST:8180", ok: true},
		"IPv4":                      {address: "127.0.0.1:8180", host: "127.0.0.1:8180", ok: true},
		"IPv6":                      {address: "[::1]:8180", host: "[::1]:8180", ok: true},
		"IPv6 without port":         {address: "[::1]:8180", host: "[::1]", ok: true},
		"without port":              {address: "127.0.0.1:8180", host: "localhost", ok: true},
		"rebound":                   {address: "127.0.0.1:8180", host: "evil.example:8180"},
		"other port":                {address: "127.0.0.1:8180", host: "localhost:9999"},
		"prefix":                    {address: "127.0.0.1:8180", host: "localhost.evil.example:8180"},
		"other loopback address":    {address: "127.0.0.1:8180", host: "127.0.0.2:8180"},
		"no host":                   {address: "127.0.0.1:8180", host: ""},
		"broken host":               {address: "127.0.0.1:8180", host: "[::1"},
		"bare IPv6":                 {address: "[::1]:8180", host: "::1"},
		"unspecified":               {address: "[::]:8180", host: "localhost:8180", ok: true},
		"unspecified, other":        {address: "0.0.0.0:8180", host: "192.0.2.1:8180"},
		"own address":               {address: "192.0.2.1:8180", host: "192.0.2.1:8180", ok: true},
		"own address, not loopback": {address: "192.0.2.1:8180", host: "localhost:8180"},
		"configured":                {address: "0.0.0.0:8180", hosts: []string{"MCP.example.com"}, host: "mcp.example.com", ok: true},
		"configured, any port":      {address: "0.0.0.0:8180", hosts: []string{"mcp.example.com"}, host: "mcp.example.com:8443", ok: true},
		"configured with port":      {address: "0.0.0.0:8180", hosts: []string{"mcp.example.com:443"}, host: "mcp.example.com:8443"},
		"configured IPv6":           {address: "0.0.0.0:8180", hosts: []string{"[2001:db8::1]"}, host: "[2001:db8::1]:8180", ok: true},
		"any host":                  {address: "0.0.0.0:8180", hosts: []string{"*"}, host: "whatever", ok: true},

		"socket file":             {address: "unix:/run/x.sock", host: "localhost", ok: true},
		"socket file, port":       {address: "unix:/run/x.sock", host: "127.0.0.1:80", ok: true},
		"socket file, other name": {address: "unix:/run/x.sock", host: "evil.example"},
		"socket file, configured": {address: "unix:x", hosts: []string{"mcp.example.com"}, host: "mcp.example.com:443", ok: true},
		"socket file, origin":     {address: "unix:/run/x.sock", host: "localhost", origin: "http://localhost"},
		"socket file, its origin": {address: "unix:/run/x.sock", host: "localhost", origin: "http://localhost:"},
		"socket file, allowed":    {address: "unix:/run/x.sock", host: "localhost", origins: []string{"http://localhost"}, origin: "http://localhost", ok: true},

		"own origin":          {address: "127.0.0.1:8180", host: "localhost:8180", origin: "http://localhost:8180", ok: true},
		"own IPv6 origin":     {address: "[::1]:8180", host: "localhost:8180", origin: "http://[::1]:8180", ok: true},
		"origin, other port":  {address: "127.0.0.1:8180", host: "localhost:8180", origin: "http://127.0.0.1:3000"},
		"origin without port": {address: "127.0.0.1:8180", host: "localhost:8180", origin: "http://localhost"},
		"origin, port 80":     {address: "127.0.0.1:80", host: "localhost", origin: "http://localhost", ok: true},
		"origin, wrong TLS":   {address: "127.0.0.1:8180", host: "localhost:8180", origin: "https://localhost:8180"},
		"origin, TLS":         {address: "127.0.0.1:443", host: "localhost", origin: "https://localhost", tls: true, ok: true},
		"null":                {address: "127.0.0.1:8180", host: "localhost:8180", origin: "null"},
		"empty origin":        {address: "127.0.0.1:8180", host: "localhost:8180", origin: " "},
		"look-alike":          {address: "127.0.0.1:8180", host: "localhost:8180", origin: "http://localhost.evil.example:8180"},
		"user trick":          {address: "127.0.0.1:8180", host: "localhost:8180", origin: "http://localhost:8180@evil.example"},
		"path":                {address: "127.0.0.1:8180", host: "localhost:8180", origin: "http://localhost:8180/x"},
		"allowed origin": {address: "127.0.0.1:8180", host: "localhost:8180", origins: []string{"https://App.example.com/"},
			origin: "https://app.example.com", ok: true},
		"any origin": {address: "127.0.0.1:8180", host: "localhost:8180", origins: []string{"*"}, origin: "null", ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := NewGuard(c.address, c.hosts, c.origins)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest("GET", "/", nil)
			if r.Host = c.host; c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			if c.tls {
				r.TLS = &tls.ConnectionState{}
			}
			if err := g.Check(r); (err == nil) != c.ok {
				t.Errorf("%v", err)
			}
		})
	}
	r := httptest.NewRequest("GET", "http://localhost/", nil)
	if (*Guard)(nil).Check(r) == nil {
		t.Error("a nil guard lets requests pass")
	}
	r.Header["Origin"] = []string{"http://localhost", "https://evil.example"}
	g, _ := NewGuard("127.0.0.1:80", nil, nil)
	if g.Check(r) == nil {
		t.Error("a second Origin header is not looked at")
	}
	if _, err := NewGuard("localhost", nil, nil); err == nil {
		t.Error("an address without port is accepted")
	}
}
