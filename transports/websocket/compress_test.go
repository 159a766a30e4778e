package websocket

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// Compression is there for who asks for it, and the limit holds for what a
// message becomes.
func TestCompress(t *testing.T) {
	for name, c := range map[string]struct{ server, client bool }{"both": {true, true}, "server": {true, false}, "client": {false, true}} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			s := newEchoing(t, ServerConfig{Compress: c.server, MaxMessage: 100 << 10})
			u := dial(t, s.url, ClientConfig{Compress: c.client})
			got, err := send(t, u, message(t, ask(1, 90<<10))).wait(t)
			if err != nil || len(got) != 1 || got[0] != told(1, 90<<10) {
				t.Errorf("%d %v", len(got), err)
			}
			_, err = send(t, u, message(t, ask(2, 200<<10))).wait(t)
			// The server may say so before all is written.
			if !errors.Is(err, transports.ErrSessionGone) && (!errors.Is(err, transports.ErrBroken) || !strings.Contains(err.Error(), "1009")) {
				t.Errorf("a message above the limit: %v", err)
			}
		})
	}
}

func TestCompressIsNegotiated(t *testing.T) {
	transporttest.Goroutines(t)
	s := newEchoing(t, ServerConfig{Compress: true}).site
	resp := connect(t, s).request(s.handshake("Sec-WebSocket-Extensions: permessage-deflate")...)
	if resp.StatusCode != http.StatusSwitchingProtocols || !strings.Contains(resp.Header.Get("Sec-Websocket-Extensions"), "permessage-deflate") {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
}
