package websocket

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/metrics"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// newBridge returns a bridge before an upstream.
func newBridge(t *testing.T, dial func() transports.Upstream, name string) *bridge.Bridge {
	t.Helper()
	ladder := rewrite.Standard()
	b := bridge.New(bridge.Settings{
		Ladder: ladder, Dial: dial, UpstreamTransport: name, Upstream: "the server",
		Deps: rewrite.Deps{Validate: schema.Validate}, Options: mcp.DefaultOptions(),
		Observer: metrics.New(prometheus.NewRegistry(), ladder.Versions()), Log: zerolog.Nop(),
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			t.Errorf("closing the bridge: %v", err)
		}
	})
	return b
}

// overHTTP puts a bridge on a loopback port for HTTP clients.
func overHTTP(t *testing.T, b *bridge.Bridge) (url string) {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	guard, err := transports.NewGuard(web.Listener.Addr().String(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	web.Config.Handler = streamable.NewServer(b, guard, streamable.ServerConfig{})
	web.Start()
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL
}

// client is a client of a bridge by whatever transport.
type client struct {
	transports.Upstream
	t     *testing.T
	next  int64
	heard chan string // what came outside of any exchange
}

func newClient(t *testing.T, u transports.Upstream) *client {
	c := &client{Upstream: u, t: t, heard: make(chan string, 100)}
	t.Cleanup(func() { _ = u.Close(context.Background()) })
	return c
}

func httpClient(t *testing.T, url string) *client {
	t.Helper()
	s, err := streamable.NewClient(url, streamable.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.CloseIdleConnections)
	return newClient(t, s.Conversation())
}

// ask sends a request and returns all that came back.
func (c *client) ask(method, params string, header http.Header) (got []string, err error) {
	c.t.Helper()
	c.next++
	m := mcp.NewRequest(method, mcp.MustObject(params))
	m.ID, m.Header = mcp.IntID(c.next), header
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	err = c.Send(ctx, m, transports.Outgoing{Receive: func(m *mcp.Message) { got = append(got, string(m.Bytes())) }})
	return got, err
}

// open performs the handshake, checks the answer and listens.
func (c *client) open(version string, header http.Header) *client {
	c.t.Helper()
	got, err := c.ask(mcp.Initialize, `{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}`, header)
	if err != nil || len(got) != 1 || !strings.Contains(got[0], `"protocolVersion":"`+version+`"`) {
		c.t.Fatalf("%q %v", got, err)
	}
	c.Agree(mcp.Version(version), mcp.Traits{Sessions: true, VersionHeader: true})
	note := mcp.NewNotification(mcp.Initialized, nil)
	note.Header = header
	if err := c.Send(c.t.Context(), note, transports.Outgoing{}); err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Listen(ctx, transports.Outgoing{Receive: func(m *mcp.Message) { c.heard <- string(m.Bytes()) }})
	}()
	c.t.Cleanup(func() {
		cancel()
		<-done
	})
	return c
}

// hears waits for what comes outside of any exchange.
func (c *client) hears(part string) {
	c.t.Helper()
	select {
	case got := <-c.heard:
		if !strings.Contains(got, part) {
			c.t.Errorf("heard %s instead of %s", got, part)
		}
	case <-time.After(patience):
		c.t.Fatalf("%s was not heard", part)
	}
}

// answers is a server of the newest handshake revision.
func answers(m *mcp.Message) []*mcp.Message {
	reply := func(text string) *mcp.Message { return m.Answer(mcp.MustObject(text)) }
	switch {
	case m.Kind != mcp.Request:
		return nil
	case m.Method == mcp.Initialize:
		return []*mcp.Message{reply(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"up","version":"1"}}`)}
	case m.Method == mcp.ToolsCall:
		progress := mcp.NewNotification(mcp.Progress, mcp.NewObject())
		if token, ok := m.ProgressToken(); ok {
			progress.Body.Set("progressToken", token.Raw())
		}
		progress.Body.Set("progress", mcp.Raw("1"))
		return []*mcp.Message{progress, reply(`{"structuredContent":{"n":9007199254740993}}`)}
	case m.Method == mcp.Ping:
		return []*mcp.Message{reply(`{}`)}
	}
	return []*mcp.Message{mcp.Errorf(mcp.CodeMethodNotFound, "no %s", m.Method).Failure(m.ID)}
}

const (
	call       = `{"name":"x","_meta":{"progressToken":"p"}}`
	translated = `"text":"{\"n\":9007199254740993}"`
)

func changed() *mcp.Message { return mcp.NewNotification("notifications/tools/list_changed", nil) }

// httpUpstream is such a server over Streamable HTTP. What is put into news
// goes out on the standalone stream.
func httpUpstream(t *testing.T) (dial func() transports.Upstream, news chan *mcp.Message) {
	news = make(chan *mcp.Message, 9)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodGet {
			_ = http.NewResponseController(w).Flush()
			for {
				select {
				case m := <-news:
					fmt.Fprintf(w, "data: %s\n\n", m.Bytes())
					_ = http.NewResponseController(w).Flush()
				case <-r.Context().Done():
					return
				}
			}
		}
		body, _ := io.ReadAll(r.Body)
		m, err := mcp.DecodeMessage(body)
		if err != nil || m.Kind != mcp.Request {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		for _, a := range answers(m) {
			fmt.Fprintf(w, "data: %s\n\n", a.Bytes())
		}
	}))
	t.Cleanup(web.Close)
	c, err := streamable.NewClient(web.URL, streamable.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c.Conversation, news
}

// socketUpstream is the same server over WebSocket.
func socketUpstream(t *testing.T) *keeping {
	host := &keeping{Host: transporttest.NewHost(1 << 20), pipes: make(chan *transports.Pipe, 9)}
	host.Serve(func(_ context.Context, m *mcp.Message, send func(*mcp.Message) error) {
		for _, a := range answers(m) {
			_ = send(a)
		}
	})
	t.Cleanup(host.Wait)
	return host
}
