package streamable

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
)

// keeper is a host whose streams may be taken up again by whoever sends the
// same Authorization as before. The test fills them.
type keeper struct {
	primed, fleeting bool
	greet            []string // is on the stream of each POST already

	mu      sync.Mutex
	streams []*transports.Stream
	seen    []string
}

func (k *keeper) open(kind string, standalone bool) transports.Reply {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := transports.NewStream(1 << 20)
	for _, text := range k.greet {
		if m, err := mcp.DecodeMessage([]byte(text)); err == nil && !standalone {
			s.Push(m)
		}
	}
	k.streams, k.seen = append(k.streams, s), append(k.seen, kind)
	return transports.Reply{Stream: s, Standalone: standalone, Kept: !k.fleeting, Primed: k.primed}
}

func (k *keeper) refuse(x *transports.Exchange) *transports.Reply {
	if x.Header.Get("Authorization") == "owner" {
		return nil
	}
	return &transports.Reply{Status: http.StatusNotFound}
}

func (k *keeper) Post(context.Context, *transports.Exchange) transports.Reply {
	return k.open("post", false)
}

func (k *keeper) Listen(_ context.Context, x *transports.Exchange) transports.Reply {
	if r := k.refuse(x); r != nil {
		return *r
	}
	return k.open("listen", true)
}

func (k *keeper) Resume(_ context.Context, x *transports.Exchange) *transports.Reply {
	return k.refuse(x)
}

func (k *keeper) End(context.Context, *transports.Exchange) transports.Reply {
	return transports.Reply{Status: http.StatusNoContent}
}

func (k *keeper) Malformed(context.Context, *transports.Exchange, *mcp.Fault) transports.Reply {
	return transports.Reply{Status: http.StatusBadRequest}
}

func (k *keeper) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.streams {
		s.End()
	}
}

// stream returns the stream that was opened last.
func (k *keeper) stream() *transports.Stream {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.streams[len(k.streams)-1]
}

func (k *keeper) opened() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.seen, " ")
}

// visit is one request of a client and the event stream that answers it.
type visit struct {
	t      *testing.T
	resp   *http.Response
	events *eventstream.Reader
	last   string // the id of the last event
	retry  bool
}

// visitWith sends a request in session s1 as its owner, with other headers if any.
func visitWith(t *testing.T, c *Client, method, lastID string, header ...string) *visit {
	t.Helper()
	body := io.Reader(http.NoBody)
	if method == http.MethodPost {
		body = strings.NewReader(ping)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://localhost/mcp", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{
		"Content-Type": {typeJSON}, "Accept": {typeEvents}, "Authorization": {"owner"}, mcp.HeaderSession: {"s1"},
	}
	if lastID != "" {
		req.Header.Set(mcp.HeaderLastID, lastID)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.site.Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return &visit{t: t, resp: resp, events: eventstream.NewReader(resp.Body, 64<<20)}
}

// next returns the data of the next event, "" at the end of the stream.
func (v *visit) next() string {
	v.t.Helper()
	e, err := v.events.Next()
	if errors.Is(err, io.EOF) {
		return ""
	}
	if err != nil {
		v.t.Fatal(err)
	}
	v.last, v.retry = e.ID, e.Retry > 0
	return string(e.Data)
}

func (v *visit) want(texts ...string) {
	v.t.Helper()
	for _, want := range texts {
		if got := v.next(); got != want {
			v.t.Errorf("received %q, want %q", got, want)
		}
	}
}

func (v *visit) leave() { _ = v.resp.Body.Close() }

// news is a numbered notification.
func news(n int) string {
	return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"n":` + strconv.Itoa(n) + `}}`
}
