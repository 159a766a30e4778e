package sse

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

const (
	patience   = 20 * time.Second
	ping       = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	pong       = `{"jsonrpc":"2.0","id":1,"result":{}}`
	initNote   = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`
	update     = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"n":1}}`
	asked      = `{"jsonrpc":"2.0","id":"s1","method":"ping"}`
)

func message(t *testing.T, text string) *mcp.Message {
	t.Helper()
	m, err := mcp.DecodeMessage([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func event(text string) string { return "event: message\ndata: " + text + "\n\n" }

// scripted is a host whose sessions answer by a function.
type scripted struct {
	take func(ctx context.Context, f *mcp.Frame, fault *mcp.Fault) transports.Reply
	pipe *transports.Pipe
	gone chan struct{} // closed when the client left
}

func newScripted() *scripted {
	return &scripted{gone: make(chan struct{}), take: func(context.Context, *mcp.Frame, *mcp.Fault) transports.Reply {
		return transports.Reply{Status: http.StatusAccepted}
	}}
}

func (s *scripted) Attach(p *transports.Pipe) transports.PipeSession { s.pipe = p; return s }

func (s *scripted) Take(ctx context.Context, f *mcp.Frame, fault *mcp.Fault) transports.Reply {
	return s.take(ctx, f, fault)
}

func (s *scripted) Close() { close(s.gone) }

// rig is a server in memory, so that no real time passes where a bubble is
// around it.
type rig struct {
	t      *testing.T
	server *Server
	web    *http.Transport
	stop   func()
}

func newRig(t *testing.T, host transports.PipeHost, config ServerConfig) *rig {
	t.Helper()
	guard, err := transports.NewGuard("127.0.0.1:80", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(host, guard, config)
	dial, end := transporttest.Memory(endpoints(server))
	web := &http.Transport{DialContext: dial}
	return &rig{t: t, server: server, web: web, stop: func() {
		web.CloseIdleConnections()
		end()
	}}
}

// do sends a request; headers are pairs, and an empty value removes one.
func (r *rig) do(ctx context.Context, method, path, body string, header ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		switch {
		case header[i] == "Host":
			req.Host = header[i+1]
		case header[i+1] == "":
			req.Header.Del(header[i])
		default:
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := r.web.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp
}

// post sends a message and returns status and body.
func (r *rig) post(path, body string, header ...string) (int, string) {
	r.t.Helper()
	resp := r.do(r.t.Context(), http.MethodPost, path, body, header...)
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(got)
}

// opened is an event stream.
type opened struct {
	*http.Response
	t        *testing.T
	text     *bufio.Reader
	endpoint string
	leave    context.CancelFunc
}

// open opens a stream and reads its endpoint event.
func (r *rig) open(header ...string) *opened {
	r.t.Helper()
	ctx, leave := context.WithCancel(r.t.Context())
	resp := r.do(ctx, http.MethodGet, StreamPath, "", header...)
	o := &opened{Response: resp, t: r.t, text: bufio.NewReader(resp.Body), leave: leave}
	if resp.StatusCode != http.StatusOK {
		r.t.Fatalf("status %d", resp.StatusCode)
	}
	first := o.next()
	var ok bool
	if o.endpoint, ok = strings.CutPrefix(first, "event: endpoint\ndata: "); !ok {
		r.t.Fatalf("the first event is %q", first)
	}
	o.endpoint = strings.TrimSuffix(o.endpoint, "\n\n")
	return o
}

// next returns the next event or comment as it is; "" at the end.
func (o *opened) next() string {
	o.t.Helper()
	var event strings.Builder
	for {
		line, err := o.text.ReadString('\n')
		if err != nil {
			return ""
		}
		if event.WriteString(line); line == "\n" {
			return event.String()
		}
	}
}
