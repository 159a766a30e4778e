package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/transports"
)

// TestPages holds what pages may send and read (field reports 74 and 75). The
// headers of a preflight come sorted from browsers, and as they are from others.
func TestPages(t *testing.T) {
	const asked = "authorization,content-type,last-event-id,mcp-method,mcp-name,mcp-param-region,mcp-protocol-version,mcp-session-id,x-own"
	const unsorted = "content-type,mcp-protocol-version,mcp-session-id,authorization,last-event-id,mcp-method,mcp-name,mcp-param-region"
	for name, c := range map[string]struct {
		method  string
		origin  string
		header  []string
		status  int // 418 is that of the endpoint
		allowed bool
	}{
		"preflight":               {"OPTIONS", "https://app.example", []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", asked}, 204, true},
		"report 74":               {"OPTIONS", "https://app.example", []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", unsorted}, 204, true},
		"preflight DELETE":        {"OPTIONS", "https://app.example", []string{"Access-Control-Request-Method", "DELETE"}, 204, true},
		"preflight PUT":           {"OPTIONS", "https://app.example", []string{"Access-Control-Request-Method", "PUT"}, 204, false},
		"preflight of own":        {"OPTIONS", "http://localhost", []string{"Access-Control-Request-Method", "POST"}, 204, true},
		"preflight of foreign":    {"OPTIONS", "https://evil.example", []string{"Access-Control-Request-Method", "POST"}, 418, false},
		"preflight of null":       {"OPTIONS", "null", []string{"Access-Control-Request-Method", "POST"}, 418, false},
		"preflight to other host": {"OPTIONS", "https://app.example", []string{"Access-Control-Request-Method", "POST", "Host", "evil.example"}, 418, false},
		"OPTIONS alone":           {"OPTIONS", "https://app.example", nil, 418, true},
		"POST":                    {"POST", "https://app.example", nil, 418, true},
		"GET":                     {"GET", "https://app.example", nil, 418, true},
		"POST of foreign":         {"POST", "https://evil.example", nil, 418, false},
		"POST of sub-origin":      {"POST", "https://app.example.evil.example", nil, 418, false},
		"no page":                 {"POST", "", nil, 418, false},
	} {
		t.Run(name, func(t *testing.T) {
			guard, err := transports.NewGuard("127.0.0.1:80", nil, []string{"https://app.example"})
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(c.method, "http://localhost/mcp", nil)
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			for i := 0; i < len(c.header); i += 2 {
				if c.header[i] == "Host" {
					r.Host = c.header[i+1]
				}
				r.Header.Set(c.header[i], c.header[i+1])
			}
			w := httptest.NewRecorder()
			Pages(guard, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })).ServeHTTP(w, r)
			h := w.Header()
			if w.Code != c.status || (h.Get("Access-Control-Allow-Origin") == c.origin && c.origin != "") != c.allowed || h.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%d %v", w.Code, h)
			}
			if !c.allowed {
				for name := range h {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s: %s", name, h.Get(name))
					}
				}
				return
			}
			if !strings.Contains(strings.Join(h.Values("Vary"), ", "), "Origin") {
				t.Error("the answer does not vary by origin")
			}
			if c.status == http.StatusNoContent {
				if got := h.Get("Access-Control-Allow-Headers"); got != r.Header.Get("Access-Control-Request-Headers") {
					t.Errorf("allowed headers: %q", got)
				}
				return
			}
			exposed := h.Get("Access-Control-Expose-Headers")
			for _, want := range []string{"Mcp-Session-Id", "Mcp-Protocol-Version", "Www-Authenticate"} {
				if !strings.Contains(exposed, want) {
					t.Errorf("exposed: %q", exposed)
				}
			}
		})
	}
}
