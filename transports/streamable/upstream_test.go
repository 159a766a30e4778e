package streamable

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// upstream starts a server and returns a client of it.
func upstream(t *testing.T, h http.HandlerFunc, config ClientConfig) *Client {
	t.Helper()
	transporttest.Goroutines(t)
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	return dial(t, web.URL+"/mcp?key=secret", config)
}

// says answers every request with the given status, type and body.
func says(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil // or Go guesses one
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// send sends text and returns what came back.
func send(t *testing.T, u transports.Upstream, text string) (got []string, err error) {
	t.Helper()
	err = u.Send(t.Context(), message(t, text), transports.Outgoing{
		Receive: func(m *mcp.Message) { got = append(got, string(m.Bytes())) },
	})
	return got, err
}

func open(t *testing.T, u transports.Upstream) {
	t.Helper()
	if _, err := send(t, u, initialize); err != nil {
		t.Fatal(err)
	}
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
	update     = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"n":1}}`
	asked      = `{"jsonrpc":"2.0","id":"s1","method":"ping"}`
)

func TestAnswers(t *testing.T) {
	const idless = `{"jsonrpc":"2.0","error":{"code":-32603,"message":"x"}}`
	const failure = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`
	const other = `{"jsonrpc":"2.0","id":2,"result":{}}`
	const numbers = `{"jsonrpc":"2.0","id":1,"result":{"id":9007199254740993,"x":6e+19,"y":0.1000}}`
	for name, c := range map[string]struct {
		status      int
		contentType string
		body        string
		want        []string
		garbage     int
	}{
		"JSON":            {200, "application/json", pong, []string{pong}, 0},
		"JSON charset":    {200, "Application/JSON; charset=utf-8", pong, []string{pong}, 0},
		"JSON suffix":     {200, "application/vnd.x+json", pong, []string{pong}, 0},
		"array":           {200, "application/json", "[" + update + "," + pong + "]", []string{update, pong}, 0},
		"numbers":         {200, "application/json", numbers, []string{numbers}, 0},
		"untyped JSON":    {200, "", "\xef\xbb\xbf \r\n" + failure, []string{failure}, 0},
		"untyped events":  {200, "", "data: " + pong + "\n\n", []string{pong}, 0},
		"untyped event":   {200, "", "event: message\ndata: " + pong + "\n\n", []string{pong}, 0},
		"untyped comment": {200, "", ": hello\n\ndata: " + pong + "\n\n", []string{pong}, 0},
		"untyped id":      {200, "", "id: 1\ndata: " + pong + "\n\n", []string{pong}, 0},
		"201":             {201, "application/json", pong, []string{pong}, 0},
		"no id":           {200, "application/json", idless, []string{failure}, 0},
		"null id":         {200, "application/json", strings.Replace(failure, `"id":1`, `"id":null`, 1), []string{failure}, 0},
		"no id on events": {200, "text/event-stream", "data: " + idless + "\n\n", []string{failure}, 0},
		"other id too":    {200, "application/json", "[" + other + "," + pong + "]", []string{other, pong}, 0},
		"500 with answer": {500, "application/json", failure, []string{failure}, 0},
		"404 with answer": {404, "application/json", failure, []string{failure}, 0},
		"400 with result": {400, "", pong, []string{pong}, 0},
		"interim": {200, "text/event-stream; charset=utf-8", "id: a\ndata:\n\ndata: " + update + "\n\ndata: " + asked + "\n\ndata: " + pong + "\n\n",
			[]string{update, asked, pong}, 0},
		"after the answer": {200, "text/event-stream", "data: " + pong + "\n\ndata: " + update + "\n\n", []string{pong, update}, 0},
		"CRLF":             {200, "text/event-stream", "event: message\r\ndata: " + pong + "\r\n\r\n", []string{pong}, 0},
		"array event":      {200, "text/event-stream", "data: [" + update + "," + pong + "]\n\n", []string{update, pong}, 0},
		"pings": {200, "text/event-stream", "event: ping\ndata:\n\ndata: \n\n: ping\r\n\r\nid: 7\ndata:\n\nevent: keepalive\ndata: {}\n\ndata: " + pong + "\n\n",
			[]string{pong}, 0},
		"heartbeat": {200, "text/event-stream", "data: {\"type\":\"heartbeat\"}\n\ndata: {\n\ndata: " + pong + "\n\n", []string{pong}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			garbage := 0
			u := upstream(t, says(c.status, c.contentType, c.body), ClientConfig{Garbage: func(string) { garbage++ }}).Conversation()
			got, err := send(t, u, ping)
			if err != nil || strings.Join(got, "\n") != strings.Join(c.want, "\n") || garbage != c.garbage {
				t.Errorf("%v %d %q", err, garbage, got)
			}
		})
	}
}

func TestNoAnswer(t *testing.T) {
	const foreign = `{"jsonrpc":"2.0","id":99,"result":{}}`
	for name, c := range map[string]struct {
		status      int
		contentType string
		body        string
		refusal     bool
	}{
		"202":                 {202, "", "", false},
		"202 with words":      {202, "text/plain", "Accepted", false},
		"204":                 {204, "", "", false},
		"empty":               {200, "", "", false},
		"empty JSON":          {200, "application/json", " \n", false},
		"empty page":          {200, "text/html", "", false},
		"empty events":        {200, "text/event-stream", "", false},
		"only interim":        {200, "text/event-stream", "id: 1\ndata: " + update + "\n\n", false},
		"other answer":        {200, "application/json", foreign, false},
		"page":                {200, "text/html; charset=utf-8", "<html>login</html>", true},
		"untyped page":        {200, "", "<html>login</html>", true},
		"JSON null":           {200, "application/json", "null", true},
		"not JSON-RPC":        {200, "application/json", `{"status":"ok"}`, true},
		"not JSON":            {200, "application/json", "{", true},
		"401 with an answer":  {401, "application/json", pong, true},
		"403 with an answer":  {403, "application/json", pong, true},
		"400 with null id":    {400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, true},
		"400 with another id": {400, "application/json", foreign, true},
		"404":                 {404, "text/html", "no", true},
		"413":                 {413, "text/html", strings.Repeat("x", 9000), true},
		"500":                 {500, "application/json", "{", true},
		"302":                 {302, "", "", true},
		"304":                 {304, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			u := upstream(t, says(c.status, c.contentType, c.body), ClientConfig{}).Conversation()
			_, err := send(t, u, ping)
			refusal, refused := errors.AsType[*mcp.Refusal](err)
			switch {
			case refused != c.refusal, !refused && !errors.Is(err, transports.ErrNoAnswer):
				t.Errorf("%v", err)
			case refused && (refusal.Status != c.status || string(refusal.Body) != c.body[:min(len(c.body), 8<<10)]):
				t.Errorf("%d %q", refusal.Status, refusal.Body)
			}
		})
	}
}

func TestTell(t *testing.T) {
	for name, c := range map[string]struct {
		status      int
		contentType string
		body        string
		ok          bool
	}{
		"202": {202, "", "", true}, "204": {204, "", "", true}, "200 null": {200, "application/json", "null", true},
		"200 page": {200, "text/html", "<p>", true}, "200 events": {200, "text/event-stream", "data: " + pong + "\n\n", true},
		"400": {400, "", "", false}, "406": {406, "", "", false}, "500": {500, "", "", false}, "301": {301, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			u := upstream(t, says(c.status, c.contentType, c.body), ClientConfig{}).Conversation()
			for _, text := range []string{initNote, pong} {
				got, err := send(t, u, text)
				if _, refused := errors.AsType[*mcp.Refusal](err); (err == nil) != c.ok || refused == c.ok || len(got) > 0 {
					t.Errorf("%v %q", err, got)
				}
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	transporttest.Goroutines(t)
	web := httptest.NewServer(http.NotFoundHandler())
	url := web.URL
	web.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	for _, to := range []string{url, "http://name.invalid/", secure.URL} {
		sent := 0
		err := dial(t, to+"/?key=secret", ClientConfig{}).Conversation().Send(t.Context(), message(t, ping), transports.Outgoing{Sent: func() { sent++ }})
		if _, ok := errors.AsType[*transports.Unreachable](err); !ok || sent != 1 || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, Sent was called %d times", to, err, sent)
		}
	}
}

// TestBroken has a server that takes the request and then breaks off: it may
// have done what was asked.
func TestBroken(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"no response": func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
		"half a body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", typeJSON)
			_, _ = w.Write([]byte("{"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		"half a stream": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", typeEvents)
			_, _ = w.Write([]byte("data: " + update + "\n\ndata"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := send(t, upstream(t, h, ClientConfig{}).Conversation(), ping)
			_, unreachable := errors.AsType[*transports.Unreachable](err)
			_, refused := errors.AsType[*mcp.Refusal](err)
			if err == nil || unreachable || refused || strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
		})
	}
}

func TestMessageLimit(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("x", 5000) + `"}}`
	for name, h := range map[string]http.HandlerFunc{
		"JSON":   says(200, typeJSON, long),
		"events": says(200, typeEvents, "data: "+long+"\n\n"),
		"gzip": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			says(200, typeJSON, zipped(t, long))(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := send(t, upstream(t, h, ClientConfig{MaxMessage: 4000}).Conversation(), ping)
			if err == nil || len(got) > 0 || errors.Is(err, context.Canceled) {
				t.Errorf("%v %d", err, len(got))
			}
		})
	}
}
