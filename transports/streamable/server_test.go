package streamable

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

const (
	ping     = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	pong     = `{"jsonrpc":"2.0","id":1,"result":{}}`
	pongBody = "event: message\ndata: " + pong + "\n\n"
	initNote = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// scripted is a host that answers every exchange with a fixed reply.
type scripted struct {
	reply func(x *transports.Exchange) transports.Reply
	seen  []string
	fault *mcp.Fault
}

func (s *scripted) answer(kind string, x *transports.Exchange) transports.Reply {
	s.seen = append(s.seen, kind)
	return s.reply(x)
}

func (s *scripted) Post(_ context.Context, x *transports.Exchange) transports.Reply {
	return s.answer("post", x)
}

func (s *scripted) Listen(_ context.Context, x *transports.Exchange) transports.Reply {
	return s.answer("listen", x)
}

func (s *scripted) End(_ context.Context, x *transports.Exchange) transports.Reply {
	return s.answer("end", x)
}

func (s *scripted) Malformed(_ context.Context, _ *transports.Exchange, f *mcp.Fault) transports.Reply {
	s.seen, s.fault = append(s.seen, "malformed"), f
	return transports.Reply{Status: http.StatusBadRequest, Message: f.Failure(f.ID)}
}

// delivered returns a reply whose stream holds the messages and has ended.
func delivered(batch bool, texts ...string) transports.Reply {
	s := transports.NewStream(1 << 20)
	for _, text := range texts {
		m, err := mcp.DecodeMessage([]byte(text))
		if err != nil {
			panic(err)
		}
		s.Push(m)
	}
	s.End()
	return transports.Reply{Stream: s, Batch: batch}
}

func pongs(*transports.Exchange) transports.Reply { return delivered(false, pong) }

// serve sends one request through the endpoint of a listener on port 80.
func serve(t *testing.T, host transports.Host, method, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		switch {
		case header[i] == "Host":
			r.Host = header[i+1]
		case header[i+1] == "":
			r.Header.Del(header[i])
		default:
			r.Header.Set(header[i], header[i+1])
		}
	}
	w := httptest.NewRecorder()
	endpoint(t, host, ServerConfig{MaxBody: 1000}).ServeHTTP(w, r)
	return w
}

func TestServerRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		method, body string
		header       []string
		status       int
	}{
		"foreign host":       {"POST", ping, []string{"Host", "evil.example:80"}, 403},
		"foreign host GET":   {"GET", "", []string{"Host", "evil.example", "Accept", "text/event-stream"}, 403},
		"other port":         {"POST", ping, []string{"Host", "localhost:9999"}, 403},
		"foreign origin":     {"POST", ping, []string{"Origin", "https://evil.example"}, 403},
		"null origin":        {"DELETE", "", []string{"Origin", "null"}, 403},
		"guard before parse": {"PUT", "{", []string{"Origin", "null", "Content-Type", "x"}, 403},
		"HEAD":               {"HEAD", "", nil, 405},
		"PUT":                {"PUT", ping, nil, 405},
		"OPTIONS":            {"OPTIONS", "", nil, 405},
		"GET without Accept": {"GET", "", nil, 405},
		"GET for anything":   {"GET", "", []string{"Accept", "*/*"}, 405},
		"GET for JSON":       {"GET", "", []string{"Accept", "application/json"}, 405},
		"GET excluded":       {"GET", "", []string{"Accept", "text/event-stream;q=0, */*"}, 405},
		"no content type":    {"POST", ping, []string{"Content-Type", ""}, 415},
		"text":               {"POST", ping, []string{"Content-Type", "text/plain"}, 415},
		"form":               {"POST", ping, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		"other charset":      {"POST", ping, []string{"Content-Type", "application/json; charset=latin1"}, 415},
		"compressed":         {"POST", ping, []string{"Content-Encoding", "gzip"}, 415},
		"accepts HTML":       {"POST", ping, []string{"Accept", "text/html"}, 406},
		"accepts nothing":    {"POST", ping, []string{"Accept", "*/*;q=0"}, 406},
		"accepts excluded":   {"POST", ping, []string{"Accept", "application/json;q=0.0, text/event-stream;q=0"}, 406},
		"too large":          {"POST", `"` + strings.Repeat("x", 1000) + `"`, nil, 413},
	} {
		t.Run(name, func(t *testing.T) {
			host := &scripted{reply: pongs}
			w := serve(t, host, c.method, c.body, c.header...)
			if w.Code != c.status || len(host.seen) > 0 {
				t.Fatalf("status %d, host saw %v", w.Code, host.seen)
			}
			if c.status == 405 && w.Header().Get("Allow") != "POST, GET, DELETE" {
				t.Errorf("Allow is %q", w.Header().Get("Allow"))
			}
			checkProblem(t, w)
		})
	}
}

func checkProblem(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	var body struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if body.JSONRPC != "2.0" || body.ID != nil || body.Error.Code == 0 || body.Error.Message == "" ||
		w.Header().Get("Content-Type") != typeJSON {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
}

func TestServerAccepts(t *testing.T) {
	const events, plain = "events", "JSON"
	for accept, want := range map[string]string{
		"":                       plain,
		"*/*":                    plain,
		"*":                      plain,
		"application/json":       plain,
		"text/event-stream":      events,
		"application/*, text/*":  plain,
		"text/*":                 events,
		"application/json;q=0.5": plain,
		"APPLICATION/JSON, text/event-stream;q=0.9":  plain,
		"application/json, text/event-stream":        plain,
		"text/event-stream, application/json ; q=0":  events,
		"*/*, application/json;q=0":                  events,
		"text/html, application/xhtml+xml, */*;q=.1": plain,
	} {
		t.Run(accept, func(t *testing.T) {
			w := serve(t, &scripted{reply: pongs}, "POST", ping, "Accept", accept)
			got, wantBody := plain, pong
			if w.Header().Get("Content-Type") == typeEvents {
				got, wantBody = events, pongBody
			}
			if w.Code != 200 || got != want || w.Body.String() != wantBody {
				t.Errorf("%d %s %q", w.Code, got, w.Body)
			}
		})
	}
	for _, contentType := range []string{
		"application/json; charset=utf-8", `Application/JSON ; CHARSET="UTF-8"`, "application/json;charset=UTF-8",
		"application/json; profile=x", "application/json;",
	} {
		if w := serve(t, &scripted{reply: pongs}, "POST", ping, "Content-Type", contentType); w.Code != 200 {
			t.Errorf("%q: status %d", contentType, w.Code)
		}
	}
}

func TestServerMalformed(t *testing.T) {
	for body, code := range map[string]int{"": mcp.CodeParse, "{": mcp.CodeParse, `{"jsonrpc":"2.0","id":7,`: mcp.CodeParse, "nul": mcp.CodeParse} {
		host := &scripted{reply: pongs}
		w := serve(t, host, "POST", body)
		if w.Code != 400 || len(host.seen) != 1 || host.fault.Code != code {
			t.Errorf("%q: %d %v", body, w.Code, host.seen)
		}
	}
}

func TestServerAnswers(t *testing.T) {
	const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`
	const second = `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`
	event := func(s string) string { return "event: message\ndata: " + s + "\n\n" }
	for name, c := range map[string]struct {
		accept string
		reply  transports.Reply
		status int
		body   string
	}{
		"interim":              {"", delivered(false, progress, pong), 200, event(progress) + event(pong)},
		"interim, JSON only":   {"application/json", delivered(false, progress, progress, pong), 200, pong},
		"batch":                {"", delivered(true, pong, second), 200, event(pong) + event(second)},
		"batch of one":         {"", delivered(true, pong), 200, event(pong)},
		"batch, JSON only":     {"application/json", delivered(true, pong, progress, second), 200, "[" + pong + "," + second + "]"},
		"batch of one as JSON": {"application/json", delivered(true, pong), 200, "[" + pong + "]"},
		"nothing":              {"", delivered(false), 200, ""},
		"nothing, JSON only":   {"application/json", delivered(false, progress), 202, ""},
		"failure":              {"", delivered(false, second), 200, second},
		"refusal":              {"", refused(), 404, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"gone"}}`},
		"accepted":             {"", transports.Reply{Status: 202}, 202, ""},
		"relayed":              {"", transports.Reply{Status: 401, Body: []byte("no")}, 401, "no"},
	} {
		t.Run(name, func(t *testing.T) {
			c.reply.Header = http.Header{"Mcp-Session-Id": {"s"}}
			host := &scripted{reply: func(*transports.Exchange) transports.Reply { return c.reply }}
			w := serve(t, host, "POST", ping, "Accept", c.accept)
			if w.Code != c.status || w.Body.String() != c.body {
				t.Errorf("%d %q", w.Code, w.Body)
			}
			if name != "refusal" && w.Header().Get("Mcp-Session-Id") != "s" {
				t.Error("the reply's header is missing")
			}
			if c.status == 202 && w.Header().Get("Content-Type") != "" {
				t.Error("202 has a content type")
			}
			if strings.HasPrefix(c.body, "event") && (w.Header().Get("X-Accel-Buffering") != "no" ||
				w.Header().Get("Cache-Control") != "no-cache, no-transform" || w.Header().Get("Content-Length") != "") {
				t.Errorf("an event stream has the header %v", w.Header())
			}
		})
	}
}

func refused() transports.Reply {
	s := transports.NewStream(1)
	s.Refuse(transports.Reply{Status: 404, Message: mcp.Errorf(mcp.CodeInvalidRequest, "gone").Failure(mcp.ID{})})
	return transports.Reply{Stream: s}
}

func TestServerExchange(t *testing.T) {
	var x *transports.Exchange
	host := &scripted{reply: func(got *transports.Exchange) transports.Reply {
		x = got
		return transports.Reply{Status: http.StatusAccepted}
	}}
	w := serve(t, host, "POST", initNote, "mcp-session-id", "abc", "MCP-Protocol-Version", "v", "Accept", "application/json", "X-Own", "1")
	if w.Code != 202 || x.Session != "abc" || x.Version != "v" || !x.JSON || x.Events || x.Remote == "" ||
		x.Header.Get("X-Own") != "1" || len(x.Frame.Items) != 1 || x.Frame.Batch {
		t.Errorf("%d %+v", w.Code, x)
	}
	if w := serve(t, host, "DELETE", "", "Mcp-Session-Id", "abc"); w.Code != 202 || host.seen[1] != "end" || x.Session != "abc" {
		t.Errorf("%d %v", w.Code, host.seen)
	}
}

// TestServerLimit sends bodies around the limit over a real connection, with
// and without a length, and reads the answer.
func TestServerLimit(t *testing.T) {
	transporttest.Goroutines(t)
	host := transporttest.NewHost(1 << 20)
	host.Serve(func(_ context.Context, m *mcp.Message, send func(*mcp.Message) error) {
		_ = send(m.Answer(mcp.NewObject()))
	})
	const limit = 1 << 20
	web := listen(t, host, ServerConfig{MaxBody: limit})
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	for _, chunked := range []bool{false, true} {
		for size, status := range map[int]int{100: 200, 99 << 10: 200, 105 << 10: 200, limit: 200, limit + 1: 413, 8 * limit: 413} {
			text := strings.Replace(ping, `"ping"`, `"ping","params":{"pad":"`+strings.Repeat("x", max(0, size-len(ping)-20))+`"}`, 1)
			text = text[:len(text)-1] + strings.Repeat(" ", max(0, size-len(text))) + "}"
			var body io.Reader = strings.NewReader(text)
			if chunked {
				body = io.MultiReader(body)
			}
			resp, err := http.Post(web.URL, "application/json", body)
			if err != nil {
				t.Errorf("%d bytes, chunked %v: %v", len(text), chunked, err)
				continue
			}
			got, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != status || !json.Valid(got) || resp.Header.Get("Content-Type") != typeJSON {
				t.Errorf("%d bytes, chunked %v: %d %s", len(text), chunked, resp.StatusCode, got)
			}
		}
	}
}
