package negotiate_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// served is what the stateless side of a bridge serves.
func served() []mcp.Version { return []mcp.Version{sent} }

const (
	metaStart = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`
	metaEnd   = `"io.modelcontextprotocol/clientCapabilities":{}}`
	clientTag = `"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},`
	meta      = metaStart + clientTag + metaEnd
	greet     = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"greet",` + meta + `}}`
)

// request is a stateless request; params go before its _meta.
func request(method, params string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params + meta + `}}`
}

// headers are those of a request; more replaces some of them, and an empty
// value removes one.
func headers(method, name string, more ...string) http.Header {
	h := http.Header{}
	pairs := append([]string{mcp.HeaderVersion, string(sent), mcp.HeaderMethod, method, mcp.HeaderName, name}, more...)
	for i := 0; i < len(pairs); i += 2 {
		if h.Del(pairs[i]); pairs[i+1] != "" {
			h.Set(pairs[i], pairs[i+1])
		}
	}
	return h
}

// doubled has a header twice.
func doubled(name string) http.Header {
	h := headers("tools/call", "greet")
	h.Add(name, h.Get(name))
	return h
}

func in(text, old, with string) string { return strings.Replace(text, old, with, 1) }

// trial is a request and what it comes to; a status of 0 says that it is
// served.
type trial struct {
	name         string
	header       http.Header
	body         string
	status, code int
}

// trials lists the rows of the validation matrix (G-33) and their neighbours.
func trials() []trial {
	call := headers("tools/call", "greet")
	with := func(more ...string) http.Header { return headers("tools/call", "greet", more...) }
	return slices.Concat([]trial{
		{"complete", call, greet, 0, 0},
		{"no version header", with(mcp.HeaderVersion, ""), greet, 400, -32020},
		{"version header twice", doubled(mcp.HeaderVersion), greet, 400, -32020},
		{"header older than the body", with(mcp.HeaderVersion, "2025-11-25"), greet, 400, -32020},
		{"header newer than the body", call, in(greet, "2026-07-28", "2025-11-25"), 400, -32020},
		{"space around the version", with(mcp.HeaderVersion, " 2026-07-28\t"), greet, 0, 0},
		{"unknown version", with(mcp.HeaderVersion, "v999.0.0"), in(greet, "2026-07-28", "v999.0.0"), 400, -32022},
		{"handshake version", with(mcp.HeaderVersion, "2025-11-25"), in(greet, "2026-07-28", "2025-11-25"), 400, -32022},
		{"version not served", with(mcp.HeaderVersion, "2027-03-01"), in(greet, "2026-07-28", "2027-03-01"), 400, -32022},
		{"no _meta", call, in(greet, `,`+meta, ``), 400, -32602},
		{"no params", headers("tools/list", ""), `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, 400, -32602},
		{"_meta without version", call, in(greet, `"io.modelcontextprotocol/protocolVersion":"2026-07-28",`, ``), 400, -32602},
		{"version of another type", call, in(greet, `"2026-07-28"`, `20260728`), 400, -32602},
		{"no capabilities", call, in(greet, metaStart+clientTag+metaEnd, metaStart+`"a":1}`), 400, -32602},
		{"capabilities null", call, in(greet, metaEnd, in(metaEnd, `{}`, `null`)), 400, -32602},
		{"capabilities a list", call, in(greet, metaEnd, in(metaEnd, `{}`, `[]`)), 400, -32602},
		{"no client", call, in(greet, clientTag, ``), 0, 0},
		{"client without version", call, in(greet, `,"version":"1"`, ``), 400, -32602},
		{"client null", call, in(greet, `{"name":"c","version":"1"}`, `null`), 400, -32602},
		{"level", call, in(greet, clientTag, `"io.modelcontextprotocol/logLevel":"debug",`), 0, 0},
		{"unknown level", call, in(greet, clientTag, `"io.modelcontextprotocol/logLevel":"loud",`), 400, -32602},
		{"level of another type", call, in(greet, clientTag, `"io.modelcontextprotocol/logLevel":7,`), 400, -32602},
		{"token a fraction", call, in(greet, clientTag, `"progressToken":1.5,`), 400, -32602},
		{"token an object", call, in(greet, clientTag, `"progressToken":{},`), 400, -32602},
		{"token", call, in(greet, clientTag, `"progressToken":"p",`), 0, 0},
	}, routed(with), methods(), shapes())
}

// routed are trials of the headers that repeat what a request is about.
func routed(with func(...string) http.Header) []trial {
	return []trial{
		{"no method header", with(mcp.HeaderMethod, ""), greet, 400, -32020},
		{"method in another case", with(mcp.HeaderMethod, "Tools/Call"), greet, 400, -32020},
		{"another method", with(mcp.HeaderMethod, "tools/list"), greet, 400, -32020},
		{"method header twice", doubled(mcp.HeaderMethod), greet, 400, -32020},
		{"space around the method", with(mcp.HeaderMethod, " tools/call "), greet, 0, 0},
		{"no name header", with(mcp.HeaderName, ""), greet, 400, -32020},
		{"another name", with(mcp.HeaderName, "Greet"), greet, 400, -32020},
		{"name header twice", doubled(mcp.HeaderName), greet, 400, -32020},
		{"badly encoded name", with(mcp.HeaderName, "=?base64?Z3JlZXQ?="), greet, 400, -32020},
		{"encoded name", with(mcp.HeaderName, "=?base64?Z3JlZXQ=?="), greet, 0, 0},
		{"space around the name", with(mcp.HeaderName, "  greet  "), greet, 0, 0},
		{"other prefix", with(mcp.HeaderName, "=?BASE64?Z3JlZXQ=?="), greet, 400, -32020},
		{"headers of a session", with(mcp.HeaderSession, "zzz", mcp.HeaderLastID, "4"), greet, 0, 0},
		{"name of a resource", headers("resources/read", "=?base64?ZmlsZTovLy90bXAvw7wudHh0?="), request("resources/read", `"uri":"file:///tmp/ü.txt",`), 0, 0},
		{"name where none is needed", headers("tools/list", "any"), request("tools/list", ``), 0, 0},
		{"parameter that nobody knows", with(mcp.HeaderParam+"Zzz", "=?base64?eA?="), greet, 0, 0},
	}
}

// methods are trials of what only handshake revisions have.
func methods() (all []trial) {
	for _, method := range []string{
		mcp.Initialize, mcp.Ping, mcp.SetLevel, mcp.ResourcesSubscribe, mcp.ResourcesUnsubscribe,
		mcp.TasksList, mcp.TasksResult, mcp.CreateMessage, mcp.Elicit, mcp.RootsList,
	} {
		all = append(all, trial{method, headers(method, ""), request(method, `"uri":"a:b","level":"info",`), 404, -32601})
	}
	for _, method := range []string{mcp.Discover, mcp.ToolsList, mcp.PromptsList, mcp.Complete, mcp.TasksGet, "vendor/method"} {
		all = append(all, trial{method, headers(method, ""), request(method, ``), 0, 0})
	}
	return all
}

// shapes are trials of parameters that a request cannot do without.
func shapes() []trial {
	return []trial{
		{"no tool", headers("tools/call", ""), request("tools/call", ``), 400, -32602},
		{"tool of another type", headers("tools/call", "7"), request("tools/call", `"name":7,`), 400, -32602},
		{"no resource", headers("resources/read", ""), request("resources/read", `"name":"a",`), 400, -32602},
		{"nothing to listen for", headers("subscriptions/listen", ""), request("subscriptions/listen", ``), 400, -32602},
		{"a list to listen for", headers("subscriptions/listen", ""), request("subscriptions/listen", `"notifications":[],`), 400, -32602},
		{"a listen", headers("subscriptions/listen", ""), request("subscriptions/listen", `"notifications":{},`), 0, 0},
	}
}

// The first rung of the ladder that fails decides (G-33).
func TestCheckStateless(t *testing.T) {
	for _, c := range trials() {
		t.Run(c.name, func(t *testing.T) {
			p := negotiate.CheckStateless(c.header, decode(t, c.body), served())
			switch {
			case c.status == 0 && p != nil:
				t.Errorf("refused %d %d %s", p.Status, p.Code, p.Message)
			case c.status != 0 && (p == nil || p.Status != c.status || p.Code != c.code || p.Message == ""):
				t.Errorf("got %+v, want %d %d", p, c.status, c.code)
			}
		})
	}
}

// A version that is not served is answered with those that are, and with the
// client's own text.
func TestUnsupportedIsExplained(t *testing.T) {
	for _, version := range []string{"v999.0.0", "2025-11-25", "2027-03-01"} {
		p := negotiate.CheckStateless(headers("tools/call", "greet", mcp.HeaderVersion, version), decode(t, in(greet, "2026-07-28", version)), served())
		if want := `{"supported":["2026-07-28"],"requested":"` + version + `"}`; p == nil || string(p.Data) != want {
			t.Errorf("got %+v, want %s", p, want)
		}
	}
}

// A message claims to be stateless by naming a version, whichever it is; other
// keys of the same kind mean nothing (G-77).
func TestClaims(t *testing.T) {
	for text, want := range map[string]bool{
		greet:                           true,
		in(greet, `"2026-07-28"`, `7`):  true,
		in(greet, "2026-07-28", "2024"): true,
		`{"jsonrpc":"2.0","id":7,"method":"ping"}`:                                                                      false,
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":[]}}`:                                                false,
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":1}}}}`: false,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{` + meta + `}}`:                                  true,
	} {
		if got := negotiate.Claims(decode(t, text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if negotiate.Claims(nil) {
		t.Error("no message claims something")
	}
}

// A header names a stateless revision if it is a date from the first one on.
func TestIsStateless(t *testing.T) {
	for header, want := range map[string]bool{
		"2026-07-28": true, " 2026-07-28 ": true, "2027-03-01": true, "9999-99-99": true,
		"2026-07-27": false, "2025-11-25": false, "": false, "v999.0.0": false, "2026-07-28,2026-07-28": false, "draft": false,
	} {
		if got := negotiate.IsStateless(header, served()); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
	if negotiate.IsStateless("2026-07-28", nil) {
		t.Error("there is a stateless revision where none is served")
	}
}

// FuzzCheckStateless: nothing panics, and of what is served the headers say
// what the body says.
func FuzzCheckStateless(f *testing.F) {
	for _, c := range trials() {
		f.Add(c.header.Get(mcp.HeaderVersion), c.header.Get(mcp.HeaderMethod), c.header.Get(mcp.HeaderName), []byte(c.body))
	}
	f.Fuzz(func(t *testing.T, version, method, name string, body []byte) {
		m, err := mcp.DecodeMessage(body)
		if err != nil || m.Kind != mcp.Request {
			return
		}
		h := http.Header{mcp.HeaderVersion: {version}, mcp.HeaderMethod: {method}, mcp.HeaderName: {name}}
		if p := negotiate.CheckStateless(h, m, served()); p != nil {
			if p.Status < 400 || p.Status > 499 || p.Message == "" {
				t.Fatalf("refused with %+v", p)
			}
			return
		}
		claimed := mcp.Version(m.Meta().Text(mcp.MetaVersion))
		if string(claimed) != strings.TrimSpace(version) || !slices.Contains(served(), claimed) || m.Method != strings.TrimSpace(method) {
			t.Fatalf("%q %q are served with %s", version, method, body)
		}
		if about, needed := m.RoutingName(); needed {
			if got, ok := mcp.DecodeHeader(strings.TrimSpace(name)); !ok || got != about {
				t.Fatalf("the name %q is served with %s", name, body)
			}
		}
	})
}
