package main

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

// visitor talks plain HTTP to the demo's server.
type visitor struct {
	t       *testing.T
	url     string
	session string
}

func visit(t *testing.T) *visitor {
	t.Helper()
	s, err := startDemoServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return &visitor{t: t, url: s.url(endpointPath)}
}

// do sends a request; set may change it. The caller reads the body.
func (v *visitor) do(method, body string, set func(*http.Request)) *http.Response {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.url, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if v.session != "" {
		req.Header.Set("Mcp-Session-Id", v.session)
	}
	if set != nil {
		set(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (v *visitor) text(resp *http.Response) string {
	v.t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return string(b)
}

func (v *visitor) initialize() string {
	v.t.Helper()
	resp := v.do("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}`, nil)
	v.session = resp.Header.Get("Mcp-Session-Id")
	return v.text(resp)
}

func TestDemoServerKeepsToItsVersion(t *testing.T) {
	v := visit(t)
	if hello := v.initialize(); v.session == "" || !strings.Contains(hello, `"protocolVersion":"2025-11-25"`) {
		t.Fatalf("session %q, hello %s", v.session, hello)
	}
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, tc := range map[string]struct {
		method, body string
		set          func(*http.Request)
		status       int
		want         string
	}{
		"ping":             {"POST", ping, nil, 200, `"id":2,"result":{}`},
		"its version":      {"POST", ping, header("Mcp-Protocol-Version", "2025-11-25"), 200, `"result":{}`},
		"other version":    {"POST", ping, header("Mcp-Protocol-Version", "2025-03-26"), 400, "-32600"},
		"no session":       {"POST", ping, header("Mcp-Session-Id", ""), 400, "-32600"},
		"unknown session":  {"POST", ping, header("Mcp-Session-Id", "x"), 404, "-32600"},
		"foreign page":     {"POST", ping, header("Origin", "https://evil.example"), 403, ""},
		"foreign host":     {"POST", ping, func(r *http.Request) { r.Host = "evil.example" }, 403, ""},
		"batch":            {"POST", "[" + ping + "]", nil, 400, `"code":-32600`},
		"not JSON":         {"POST", "{", nil, 400, `"code":-32700`},
		"not JSON-RPC":     {"POST", `{"id":7}`, nil, 400, `"id":7,"error":{"code":-32600`},
		"too large":        {"POST", strings.Repeat(" ", maxDemoBody+1), nil, 400, ""},
		"unknown method":   {"POST", `{"jsonrpc":"2.0","id":3,"method":"x"}`, nil, 200, `"code":-32601`},
		"unknown tool":     {"POST", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x"}}`, nil, 200, `"code":-32602`},
		"no tool":          {"POST", `{"jsonrpc":"2.0","id":3,"method":"tools/call"}`, nil, 200, `"code":-32602`},
		"notification":     {"POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, ""},
		"answer to none":   {"POST", `{"jsonrpc":"2.0","id":9,"result":{}}`, nil, 202, ""},
		"no stream":        {"GET", "", nil, 405, ""},
		"structured alone": {"POST", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"inventory"}}`, nil, 200, `"result":{"structuredContent":{"grains":9007199254740993}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			resp := v.do(tc.method, tc.body, tc.set)
			if body := v.text(resp); resp.StatusCode != tc.status || !strings.Contains(body, tc.want) {
				t.Errorf("%d %s", resp.StatusCode, body)
			}
		})
	}
}

func TestDemoServerListsWhatTheVersionHas(t *testing.T) {
	v := visit(t)
	v.initialize()
	list := v.text(v.do("POST", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, nil))
	for _, member := range []string{`"title":"`, `"icons":[`, `"inputSchema":{`, `"outputSchema":{`, `"annotations":{`} {
		if got := strings.Count(list, member); got != 3 {
			t.Errorf("%s occurs %d times in %s", member, got, list)
		}
	}
}

// next returns the data of the next event.
func next(t *testing.T, stream *bufio.Scanner) string {
	t.Helper()
	for stream.Scan() {
		if data, ok := strings.CutPrefix(stream.Text(), "data: "); ok {
			return data
		}
	}
	return ""
}

func TestDemoServerAsksWithinTheCall(t *testing.T) {
	for name, tc := range map[string]struct{ answer, want string }{
		"accept":       {`"result":{"action":"accept","content":{"guests":3,"seating":"terrace"}}`, "Booked: a table for 3, terrace"},
		"no seating":   {`"result":{"action":"accept","content":{"guests":12}}`, `"structuredContent":{"guests":12,"seating":"inside"}`},
		"bad number":   {`"result":{"action":"accept","content":{"guests":1.5}}`, "Nothing is booked, as guests must be"},
		"too many":     {`"result":{"action":"accept","content":{"guests":13}}`, "Nothing is booked, as guests must be"},
		"no content":   {`"result":{"action":"accept"}`, "Nothing is booked, as guests must be"},
		"cancel":       {`"result":{"action":"cancel"}`, "Nothing is booked, as the user did not answer"},
		"decline":      {`"result":{"action":"decline"}`, "Nothing is booked, as the user did not answer"},
		"cannot":       {`"error":{"code":-32601,"message":"Method not found"}`, "Nothing is booked, the question failed: Method not found"},
		"session ends": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := visit(t)
			v.initialize()
			resp := v.do("POST", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"book_table","arguments":{"evening":"Friday"}}}`, nil)
			if media := resp.Header.Get("Content-Type"); media != "text/event-stream" {
				t.Fatalf("the answer is %s", media)
			}
			stream := bufio.NewScanner(resp.Body)
			if asked := next(t, stream); !strings.Contains(asked, `"id":1,"method":"elicitation/create"`) {
				t.Fatalf("asked %s", asked)
			}
			if tc.answer == "" {
				if status := v.do("DELETE", "", nil).StatusCode; status != 204 {
					t.Errorf("DELETE: %d", status)
				}
			} else if status := v.do("POST", `{"jsonrpc":"2.0","id":1,`+tc.answer+`}`, nil).StatusCode; status != 202 {
				t.Errorf("the answer was taken with %d", status)
			}
			got := next(t, stream)
			if !strings.Contains(got, tc.want) || tc.want != "" && !strings.Contains(got, `"id":5,"result"`) || tc.want == "" && got != "" {
				t.Errorf("result %s", got)
			}
		})
	}
}

func TestDemoServerReportsProgressOnlyWhenAsked(t *testing.T) {
	v := visit(t)
	v.initialize()
	for meta, want := range map[string]int{"": 0, `,"_meta":{"progressToken":"p"}`: 2} {
		body := v.text(v.do("POST", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"report"`+meta+`}}`, nil))
		if got := strings.Count(body, `"progressToken":"p"`); got != want || !strings.Contains(body, `"type":"resource_link"`) {
			t.Errorf("%d reports in %s", got, body)
		}
	}
}
