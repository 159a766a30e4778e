package streamable

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// TestGrace has a server that never closes its stream.
func TestGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left atomic.Bool
		c, stop := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			says(200, typeEvents, "data: "+pong+"\n\n")(w, r)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			left.Store(true)
		}), ClientConfig{})
		defer stop()
		start := time.Now()
		u := c.Conversation()
		got, err := send(t, u, ping)
		if err != nil || len(got) != 1 || time.Since(start) != 2*time.Second {
			t.Errorf("after %v: %v %q", time.Since(start), err, got)
		}
		if synctest.Wait(); !left.Load() {
			t.Error("the stream is still open")
		}
	})
}

// TestStalledRefusal has a server that does not finish what does not matter.
func TestStalledRefusal(t *testing.T) {
	for _, status := range []int{200, 404, 500} {
		synctest.Test(t, func(t *testing.T) {
			c, stop := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				says(status, "text/html", "<html>")(w, r)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}), ClientConfig{})
			defer stop()
			for _, text := range []string{ping, initNote} {
				start := time.Now()
				_, err := send(t, c.Conversation(), text)
				r, refused := errors.AsType[*mcp.Refusal](err)
				if time.Since(start) != 2*time.Second || refused != (status != 200 || text == ping) || refused && string(r.Body) != "<html>" {
					t.Errorf("%d after %v: %v", status, time.Since(start), err)
				}
			}
		})
	}
}

// TestGzip has a server that compresses although nobody asked, and flushes
// after each event.
func TestGzip(t *testing.T) {
	second := make(chan struct{})
	u := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", typeEvents)
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "data: "+update+"\n\n")
		_ = z.Flush()
		_ = http.NewResponseController(w).Flush()
		<-second
		_, _ = io.WriteString(z, "data: "+pong+"\n\n")
		_ = z.Close()
	}, ClientConfig{}).Conversation()
	var got []string
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := u.Send(ctx, message(t, ping), transports.Outgoing{Receive: func(m *mcp.Message) {
		if got = append(got, string(m.Bytes())); len(got) == 1 {
			close(second)
		}
	}})
	if err != nil || len(got) != 2 || got[1] != pong {
		t.Errorf("%v %q", err, got)
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
