package streamable

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// recorder is a server that gives a session and remembers requests.
type recorder struct {
	seen  []*http.Request
	body  []string
	reply http.HandlerFunc // instead of pong
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.seen, s.body = append(s.seen, r), append(s.body, string(body))
	if strings.Contains(string(body), `"initialize"`) {
		w.Header().Set("Mcp-Session-Id", "s1")
	}
	if s.reply != nil && !strings.Contains(string(body), `"initialize"`) {
		s.reply(w, r)
		return
	}
	says(200, typeJSON, pong)(w, r)
}

func (s *recorder) last() http.Header { return s.seen[len(s.seen)-1].Header }

func TestRequestHeaders(t *testing.T) {
	server := &recorder{}
	u := upstream(t, server.ServeHTTP, ClientConfig{Header: http.Header{"x-static": {"1"}, "X-Both": {"static"}, "Accept": {"x"}}}).Conversation()
	m := message(t, initialize)
	m.Header = http.Header{"Authorization": {"Bearer t"}, "X-Both": {"own"}, "Mcp-Session-Id": {"forged"}, "Mcp-Protocol-Version": {"forged"}}
	if err := u.Send(t.Context(), m, transports.Outgoing{}); err != nil {
		t.Fatal(err)
	}
	want := func(header, value string) {
		t.Helper()
		if got := server.last().Get(header); got != value || len(server.last().Values(header)) > 1 {
			t.Errorf("%s is %q, want %q", header, server.last().Values(header), value)
		}
	}
	want("Accept", "application/json, text/event-stream")
	want("Content-Type", "application/json")
	want("Accept-Encoding", "identity")
	want("Authorization", "Bearer t")
	want("X-Static", "1")
	want("X-Both", "static")
	want("Mcp-Session-Id", "")
	want("Mcp-Protocol-Version", "")

	u.Agree("v1", mcp.Traits{VersionHeader: true})
	_, _ = send(t, u, initNote)
	want("Mcp-Session-Id", "s1")
	want("Mcp-Protocol-Version", "v1")
	want("Authorization", "")
	open(t, u) // again, without Reset
	want("Mcp-Session-Id", "")
	want("Mcp-Protocol-Version", "")

	u.Agree("v0", mcp.Traits{})
	_, _ = send(t, u, initNote)
	want("Mcp-Session-Id", "s1")
	want("Mcp-Protocol-Version", "")

	u.Reset()
	if err := u.Send(t.Context(), message(t, initialize), transports.Outgoing{WithVersion: true}); err != nil {
		t.Fatal(err)
	}
	want("Mcp-Session-Id", "")
	want("Mcp-Protocol-Version", "2025-06-18")
}

func TestSessionID(t *testing.T) {
	for id, valid := range map[string]bool{"abc-1~!": true, "": false, "a b": false, "é": false, strings.Repeat("x", 1024): true, strings.Repeat("x", 1025): false} {
		if validSession(id) != valid {
			t.Errorf("%q is valid: %v", id, !valid)
		}
	}
}

func TestSessionGone(t *testing.T) {
	server := &recorder{reply: says(404, typeJSON, strings.Replace(pong, "pong", "ping", 1))}
	u := upstream(t, server.ServeHTTP, ClientConfig{}).Conversation()
	open(t, u)
	for _, text := range []string{ping, initNote} { // whatever the body says
		if got, err := send(t, u, text); !errors.Is(err, transports.ErrSessionGone) || len(got) > 0 {
			t.Errorf("%v %q", err, got)
		}
	}
	server.reply = says(400, typeJSON, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"}}`)
	if _, err := send(t, u, ping); err == nil || errors.Is(err, transports.ErrSessionGone) {
		t.Errorf("400: %v", err)
	}
	u.Reset()
	open(t, u)
	if server.last().Get("Mcp-Session-Id") != "" {
		t.Error("the old session id was sent again")
	}
}

func TestRedirects(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		location func(here string) string
		follow   bool
	}{
		"307":            {307, func(string) string { return "/mcp/" }, true},
		"308":            {308, func(string) string { return "/mcp/" }, true},
		"relative":       {307, func(string) string { return "mcp/" }, true},
		"absolute":       {307, func(h string) string { return h + "/mcp/" }, true},
		"other port":     {307, func(string) string { return "http://127.0.0.1:1/mcp/" }, false},
		"other name":     {308, func(h string) string { return strings.Replace(h, "127.0.0.1", "localhost", 1) + "/mcp/" }, false},
		"other scheme":   {307, func(h string) string { return strings.Replace(h, "http", "https", 1) + "/mcp/" }, false},
		"301":            {301, func(string) string { return "/mcp/" }, false},
		"303":            {303, func(string) string { return "/mcp/" }, false},
		"no location":    {307, func(string) string { return "" }, false},
		"bad location":   {307, func(string) string { return "http://[::1" }, false},
		"without end":    {307, func(string) string { return "/mcp" }, false},
		"not over HTTPS": {307, func(string) string { return "file:///etc/passwd" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			server := &recorder{}
			var first int
			mux := http.NewServeMux()
			mux.Handle("/mcp/{$}", server)
			web := httptest.NewServer(mux)
			defer web.Close()
			mux.HandleFunc("/mcp", func(w http.ResponseWriter, _ *http.Request) {
				first++
				w.Header()["Location"] = []string{c.location(web.URL)}
				w.WriteHeader(c.status)
			})
			u := dial(t, web.URL+"/mcp", ClientConfig{Header: http.Header{"Authorization": {"Bearer t"}}}).Conversation()
			got, err := send(t, u, ping)
			if !c.follow {
				if r, ok := errors.AsType[*mcp.Refusal](err); !ok || r.Status != c.status || len(server.seen) > 0 || first > 6 {
					t.Errorf("%v after %d requests", err, first)
				}
				if worded, ok := errors.AsType[transports.Worded](err); ok != (c.location(web.URL) != "") || ok && !strings.Contains(worded.Words(), "redirects") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || len(got) != 1 || server.body[0] != ping || server.seen[0].Method != "POST" || server.last().Get("Authorization") != "Bearer t" {
				t.Fatalf("%v %q", err, server.body)
			}
			if _, err := send(t, u, ping); err != nil || first != 1 {
				t.Errorf("%v: the final URL was not remembered", err)
			}
			u.Reset()
			if _, err := send(t, u, ping); err != nil || first != 2 {
				t.Errorf("%v: Reset keeps the final URL", err)
			}
		})
	}
}

func TestListen(t *testing.T) {
	for name, c := range map[string]struct {
		status      int
		contentType string
		body        string
		want        error // nil: it is a stream; errRefused: a refusal
	}{
		"stream":   {200, "text/event-stream", "id: 17\ndata: " + update + "\n\nid: 18\ndata:\n\ndata: " + asked + "\n\n", nil},
		"200 JSON": {200, "application/json", `{"status":"ok"}`, transports.ErrNoStream},
		"204":      {204, "", "", transports.ErrNoStream},
		"400":      {400, "", "", transports.ErrNoStream}, "404": {404, "", "Cannot GET /mcp", transports.ErrNoStream},
		"405": {405, "", "", transports.ErrNoStream}, "406": {406, "", "", transports.ErrNoStream},
		"500": {500, "", "", transports.ErrNoStream}, "501": {501, "", "", transports.ErrNoStream},
		"401": {401, "", "", errRefused}, "403": {403, "", "", errRefused}, "409": {409, "", "", errRefused}, "429": {429, "", "", errRefused},
		"502": {502, "", "", errRefused}, "503": {503, "", "", errRefused}, "504": {504, "", "", errRefused}, "302": {302, "", "", errRefused},
	} {
		t.Run(name, func(t *testing.T) {
			server := &recorder{reply: says(c.status, c.contentType, c.body)}
			u := upstream(t, server.ServeHTTP, ClientConfig{}).Conversation()
			m := message(t, initialize)
			m.Header = http.Header{"Authorization": {"Bearer t"}}
			if err := u.Send(t.Context(), m, transports.Outgoing{}); err != nil {
				t.Fatal(err)
			}
			u.Agree("v1", mcp.Traits{VersionHeader: true})
			var heard []string
			err := u.Listen(t.Context(), transports.Outgoing{
				Open:    func() { heard = append(heard, "open") },
				Receive: func(m *mcp.Message) { heard = append(heard, string(m.Bytes())) },
			})
			_, refused := errors.AsType[*mcp.Refusal](err)
			if refused != (c.want == errRefused) || !refused && !errors.Is(err, c.want) {
				t.Errorf("%v", err)
			}
			if c.want == nil && strings.Join(heard, " ") != "open "+update+" "+asked || c.want != nil && len(heard) > 0 {
				t.Errorf("heard %q", heard)
			}
			h := server.last()
			if h.Get("Accept") != typeEvents || h.Get("Mcp-Session-Id") != "s1" || h.Get("Mcp-Protocol-Version") != "v1" ||
				h.Get("Authorization") != "Bearer t" || h.Get("Content-Type") != "" {
				t.Errorf("%v", h)
			}
		})
	}
}

var errRefused = errors.New("refused")

func TestClose(t *testing.T) {
	for status, ok := range map[int]bool{200: true, 202: true, 204: true, 404: true, 405: true, 401: false, 500: false} {
		server := &recorder{reply: says(status, "", "")}
		u := upstream(t, server.ServeHTTP, ClientConfig{}).Conversation()
		open(t, u)
		if err := u.Close(t.Context()); (err == nil) != ok {
			t.Errorf("%d: %v", status, err)
		}
		if last := server.seen[len(server.seen)-1]; last.Method != "DELETE" || last.Header.Get("Mcp-Session-Id") != "s1" {
			t.Errorf("%s %v", last.Method, last.Header)
		}
	}
	server := &recorder{}
	if err := upstream(t, server.ServeHTTP, ClientConfig{}).Conversation().Close(t.Context()); err != nil || len(server.seen) > 0 {
		t.Errorf("without a session: %v, %d requests", err, len(server.seen))
	}
}
