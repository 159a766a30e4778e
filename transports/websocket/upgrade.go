package websocket

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"sync"

	gorilla "github.com/gorilla/websocket"

	"github.com/mcpbridge/mcpbridge/transports"
)

// serverBuffer holds the start of a message while it is written; the rest is
// not copied.
const serverBuffer = 4 << 10

const protocolHeader = "Sec-Websocket-Protocol"

func newUpgrader(c ServerConfig) gorilla.Upgrader {
	return gorilla.Upgrader{
		ReadBufferSize:    serverBuffer,
		WriteBufferSize:   serverBuffer,
		WriteBufferPool:   &sync.Pool{},
		EnableCompression: c.Compress,
		CheckOrigin:       func(*http.Request) bool { return true }, // the guard has done so
		Error: func(w http.ResponseWriter, _ *http.Request, status int, _ error) {
			w.Header().Set("Sec-Websocket-Version", "13") // RFC 6455 section 4.4
			transports.WriteProblem(w, status, "the WebSocket handshake is malformed: send version 13 and a key (RFC 6455)")
		},
	}
}

// upgradable checks the request as far as MCP goes; a status other than 0
// refuses it.
func upgradable(answer http.Header, r *http.Request) (status int, text string) {
	switch {
	case r.Method != http.MethodGet:
		answer.Set("Allow", http.MethodGet)
		return http.StatusMethodNotAllowed, "this endpoint takes GET: it opens a WebSocket"
	case !gorilla.IsWebSocketUpgrade(r):
		answer.Set("Upgrade", "websocket")
		answer.Set("Connection", "Upgrade")
		return http.StatusUpgradeRequired, "this endpoint speaks WebSocket: connect to it with ws:// instead of http://"
	}
	if all, ours := offered(r.Header); all && !ours {
		return http.StatusBadRequest, "no offered subprotocol is served: offer " + Subprotocol + ", or none"
	}
	return 0, ""
}

// offered reports whether a client offers subprotocols, and ours among them.
func offered(h http.Header) (any, ours bool) {
	for _, line := range h.Values(protocolHeader) {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.TrimSpace(name)
			any = any || name != ""
			ours = ours || name == Subprotocol
		}
	}
	return any, ours
}

// upgrade performs the opening handshake. It returns nil when that failed;
// the client has been told then.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request) *socket {
	var answer http.Header
	if _, ours := offered(r.Header); ours {
		answer = http.Header{protocolHeader: {Subprotocol}}
	}
	config := s.now.Load()
	h := &hijacker{ResponseWriter: w, timing: config.Timing}
	ws, err := config.upgrader.Upgrade(h, r, answer)
	if err != nil {
		return nil
	}
	socket := newSocket(ws, h.wire, config.MaxMessage)
	socket.depth = config.MaxDepth
	return socket
}

// hijacker puts a wire between the network and the library.
type hijacker struct {
	http.ResponseWriter
	timing Timing
	wire   *wire
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.wire = &wire{Conn: conn, timing: h.timing}
	return h.wire, rw, nil
}
