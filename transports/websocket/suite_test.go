package websocket

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// site is a Server on a loopback port.
type site struct {
	*Server
	web *httptest.Server
	url string // ws://
}

// listen puts a Server on a loopback port. When the test is over nothing of
// it may still run.
func listen(t testing.TB, host transports.PipeHost, config ServerConfig, start func(*httptest.Server)) *site {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	guard, err := transports.NewGuard(web.Listener.Addr().String(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(host, guard, config)
	web.Config.Handler = s
	start(web)
	t.Cleanup(func() {
		s.Close()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Wait(ctx); err != nil {
			t.Errorf("connections are left: %v", err)
		}
		web.Close()
	})
	return &site{Server: s, web: web, url: "ws" + strings.TrimPrefix(web.URL, "http")}
}

func dial(t testing.TB, url string, config ClientConfig) transports.Upstream {
	t.Helper()
	c, err := NewClient(url, config)
	if err != nil {
		t.Fatal(err)
	}
	u := c.Conversation()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := u.Close(ctx); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return u
}

func TestSuite(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){
		"ws":  (*httptest.Server).Start,
		"wss": (*httptest.Server).StartTLS,
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T) transporttest.Pair { return pair(t, start) })
		})
	}
}

func pair(t *testing.T, start func(*httptest.Server)) transporttest.Pair {
	host := transporttest.NewHost(1 << 20)
	s := listen(t, host, ServerConfig{}, start)
	config := ClientConfig{}
	config.TLS = trusting(s.web)
	return transporttest.Pair{
		Client: dial(t, s.url, config),
		Serve:  host.Serve,
		Close: func() {
			s.Server.Close()
			host.Wait()
		},
		InFlight: 16 << 20, // socket buffers of both ends grow to about 10 MiB
	}
}
