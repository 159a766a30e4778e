package bridge_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// rig is a bridge on loopback before a scripted server.
type rig struct {
	t      *testing.T
	up     *server
	bridge *bridge.Bridge
	heard  *witness
	url    string
	web    *http.Client // what clients speak through
	idle   func()       // closes all connections that are not in use
}

// rigging is what a test may change of a rig before it is built.
type rigging struct {
	bridge.Settings
	endpoint streamable.ServerConfig
}

// newRig builds a rig. When the test is over nothing of it may still run.
func newRig(t *testing.T, change func(*rigging)) *rig {
	t.Helper()
	transporttest.Goroutines(t)
	up := newServer(t)
	return newRigBefore(t, up, up.URL, change)
}

// newRigBefore builds a rig before the upstream at an address.
func newRigBefore(t testing.TB, up *server, address string, change func(*rigging)) *rig {
	t.Helper()
	upstream, err := streamable.NewClient(address, streamable.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	heard := newWitness()
	s := rigging{Settings: bridge.Settings{
		Ladder: rewrite.Standard(), Era: negotiate.Legacy, Dial: upstream.Conversation, Upstream: address,
		Deps: rewrite.Deps{Validate: schema.Validate}, Options: mcp.DefaultOptions(),
		Observer: heard, Log: zerolog.Nop(),
	}}
	if change != nil {
		change(&s)
	}
	b := bridge.New(s.Settings)
	web := endpoint(t, b, s.endpoint)
	speaker := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			t.Errorf("closing the bridge: %v", err)
		}
		speaker.CloseIdleConnections()
		web.CloseClientConnections()
		web.Close()
		upstream.CloseIdleConnections()
	})
	r := &rig{up: up, bridge: b, heard: heard, url: web.URL, web: speaker}
	r.idle = func() {
		speaker.CloseIdleConnections()
		upstream.CloseIdleConnections()
	}
	r.t, _ = t.(*testing.T)
	return r
}

// endpoint puts a bridge on a loopback port.
func endpoint(t testing.TB, b transports.Host, config streamable.ServerConfig) *httptest.Server {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	guard, err := transports.NewGuard(web.Listener.Addr().String(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	web.Config.Handler = streamable.NewServer(b, guard, config)
	web.Start()
	return web
}

// client returns a client that has not initialized.
func (r *rig) client() *client {
	return &client{t: r.t, url: r.url, web: r.web, header: http.Header{}}
}

// initializeWith is an initialize request.
func initializeWith(id, version, capabilities string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"initialize","params":{"protocolVersion":%q,`+
		`"capabilities":%s,"clientInfo":{"name":"tester","version":"1"}}}`, id, version, capabilities)
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// open returns a client with a session that is ready for use.
func (r *rig) open(version, capabilities string) *client {
	r.t.Helper()
	c := r.client()
	c.open(version, capabilities)
	return c
}
