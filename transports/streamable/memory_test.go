package streamable

import (
	"net/http"
	"testing"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// inMemory serves h and returns a client of it. Stop must be called before
// the bubble ends.
func inMemory(t *testing.T, h http.Handler, config ClientConfig) (c *Client, stop func()) {
	t.Helper()
	dial, end := transporttest.Memory(h)
	c, err := NewClient("http://localhost/mcp", config)
	if err != nil {
		t.Fatal(err)
	}
	c.site.Transport.DialContext = dial
	return c, func() {
		c.CloseIdleConnections()
		end()
	}
}

func endpoint(t *testing.T, host transports.Host, config ServerConfig) *Server {
	t.Helper()
	guard, err := transports.NewGuard("127.0.0.1:80", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return NewServer(host, guard, config)
}
