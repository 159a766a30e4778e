package web_test

import (
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/transports/web"
)

// Node's servers end a connection that was idle for five seconds. A POST that is
// sent at that moment is lost, and a call must not be sent twice. Middleboxes
// that forget idle connections do so later still (field report 73).
func TestIdleConnectionsEndFirst(t *testing.T) {
	site, err := web.NewSite("http://a/mcp", web.SiteConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if idle := site.Transport.IdleConnTimeout; idle <= 0 || idle >= 5*time.Second {
		t.Errorf("idle connections end after %s, want less than 5s", idle)
	}
}
