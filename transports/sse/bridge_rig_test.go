package sse

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/metrics"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"

	"github.com/prometheus/client_golang/prometheus"
)

// bridged is a real bridge on loopback, with the endpoints of both
// transports.
type bridged struct {
	*httptest.Server
	*bridge.Bridge
}

func newBridge(t *testing.T, dial func() transports.Upstream) *bridged {
	t.Helper()
	ladder := rewrite.Standard()
	b := bridge.New(bridge.Settings{
		Ladder: ladder, Dial: dial, UpstreamTransport: transports.NameOf(dial(), ""), Options: mcp.DefaultOptions(), Log: zerolog.Nop(),
		Observer: metrics.New(prometheus.NewRegistry(), ladder.Versions()),
	})
	site := httptest.NewUnstartedServer(nil)
	guard, err := transports.NewGuard(site.Listener.Addr().String(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", streamable.NewServer(b, guard, streamable.ServerConfig{}))
	mux.Handle("/", endpoints(NewServer(b, guard, ServerConfig{})))
	site.Config.Handler = mux
	site.Start()
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
		site.CloseClientConnections()
		site.Close()
	})
	return &bridged{Server: site, Bridge: b}
}

// newer is a client of Streamable HTTP.
func newer(t *testing.T, url string) *streamable.Client {
	t.Helper()
	c, err := streamable.NewClient(url, streamable.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// peer is a server of Streamable HTTP whose answers are scripted by method.
type peer struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	on      map[string]func(w http.ResponseWriter, m *mcp.Message)
	seen    []string
	headers []http.Header
	ended   chan struct{}     // has a token for each session that was ended
	told    chan string       // every notification and answer
	news    chan *mcp.Message // what goes to the standalone stream
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	transporttest.Goroutines(t)
	p := &peer{
		t: t, on: map[string]func(http.ResponseWriter, *mcp.Message){},
		ended: make(chan struct{}, 8), told: make(chan string, 64), news: make(chan *mcp.Message),
	}
	p.Server = httptest.NewServer(p)
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

func (p *peer) handle(method string, f func(w http.ResponseWriter, m *mcp.Message)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on[method] = f
}

func (p *peer) count(method string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.seen {
		if s == method {
			n++
		}
	}
	return n
}

func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodDelete:
		p.ended <- struct{}{}
		return
	case http.MethodGet:
		p.listen(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	m, err := mcp.DecodeMessage(body)
	if err != nil {
		p.t.Errorf("the bridge sent %s", body)
		return
	}
	p.mu.Lock()
	p.seen, p.headers = append(p.seen, m.Method), append(p.headers, r.Header)
	f := p.on[m.Method]
	p.mu.Unlock()
	switch {
	case f != nil:
		f(w, m)
	case m.Kind != mcp.Request:
		p.told <- string(body)
		w.WriteHeader(http.StatusAccepted)
	case m.Method == mcp.Initialize:
		w.Header().Set(mcp.HeaderSession, "up")
		reply(w, m, opening)
	default:
		reply(w, m, `{}`)
	}
}

func (p *peer) listen(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case m := <-p.news:
			_, _ = io.WriteString(w, event(string(m.Bytes())))
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

const opening = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"up","version":"1"}}`

func reply(w http.ResponseWriter, m *mcp.Message, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(m.Answer(mcp.MustObject(result)).Bytes())
}

// initializing returns an initialize request.
func initializing(version, capabilities string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":` + capabilities +
		`,"clientInfo":{"name":"c","version":"1"}}}`
}

// start opens a session through the bridge.
func start(t *testing.T, u transports.Upstream, version, capabilities string) {
	t.Helper()
	got, err := send(t, u, initializing(version, capabilities))
	if err != nil || len(got) != 1 || !strings.Contains(got[0], `"protocolVersion":"`+version+`"`) {
		t.Fatalf("%v %q", err, got)
	}
	if _, err := send(t, u, initNote); err != nil {
		t.Fatal(err)
	}
}
