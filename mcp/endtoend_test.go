package mcp_test

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func TestEndToEnd(t *testing.T) {
	for _, name := range []string{
		"Cookie", "cookie", "Origin", "Referer", "Sec-Fetch-Site", "Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
		"Proxy-Authorization", "Proxy-Connection", "Proxy-Anything", "Proxy", "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded", "X-Real-IP",
		"Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region", "Last-Event-ID", "Host", "Content-Length", "Content-Type",
		"Mcp_Session_Id", "X_Forwarded_For", "transfer_encoding", "X-HTTP-Method-Override", "X-Original-URL", "HTTP2-Settings", "Access-Control-Request-Headers",
	} {
		if mcp.EndToEnd(name) {
			t.Errorf("%s crosses", name)
		}
	}
	for _, name := range []string{"Authorization", "X-Api-Key", "Traceparent", "X-Tenant", "X-Request-Id", "Cookies", "Second"} {
		if !mcp.EndToEnd(name) {
			t.Errorf("%s does not cross", name)
		}
	}
}

func TestHeaderRules(t *testing.T) {
	const forward, static, none = mcp.CredentialsForward, mcp.CredentialsStatic, mcp.CredentialsNone
	globs := func(all ...mcp.Glob) []mcp.Glob { return all }
	for name, c := range map[string]struct {
		rules  mcp.HeaderRules
		policy mcp.Credentials
		want   string // of the headers a: Authorization, k: X-Api-Key, t: Traceparent, c: Cookie, r: X-Tenant-Region
	}{
		"default":             {mcp.HeaderRules{}, forward, "aktr"},
		"static":              {mcp.HeaderRules{}, static, "t"},
		"none":                {mcp.HeaderRules{}, none, "t"},
		"drop":                {mcp.HeaderRules{Drop: globs("x-API-key", "x-tenant-*")}, forward, "at"},
		"drop all":            {mcp.HeaderRules{Drop: globs("*")}, forward, ""},
		"drop with static":    {mcp.HeaderRules{Drop: globs("Traceparent")}, static, ""},
		"forward":             {mcp.HeaderRules{Forward: globs("X-Tenant-*")}, forward, "r"},
		"forward all":         {mcp.HeaderRules{Forward: globs("*")}, forward, "aktr"},
		"forward nothing":     {mcp.HeaderRules{Forward: []mcp.Glob{}}, forward, ""},
		"forward, and drop":   {mcp.HeaderRules{Forward: globs("*"), Drop: globs("X-Api-Key")}, forward, "atr"},
		"a cookie":            {mcp.HeaderRules{Forward: globs("Cookie", "c*")}, forward, ""},
		"static, by name":     {mcp.HeaderRules{Forward: globs("X-Tenant-Region")}, static, "r"},
		"static, all":         {mcp.HeaderRules{Forward: globs("*")}, static, "ktr"},
		"none, Authorization": {mcp.HeaderRules{Forward: globs("authorization")}, none, ""},
	} {
		got := ""
		for _, h := range []string{"Authorization", "X-Api-Key", "Traceparent", "Cookie", "X-Tenant-Region"} {
			if c.rules.Allows(h, c.policy) {
				got += map[string]string{"Authorization": "a", "X-Api-Key": "k", "Traceparent": "t", "Cookie": "c", "X-Tenant-Region": "r"}[h]
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
