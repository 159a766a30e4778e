package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestFaultsOfAClient has clients that take all they can, or leave without a word.
func TestFaultsOfAClient(t *testing.T) {
	t.Parallel()
	server := startFaultServer(t)
	b := watch(t, "", startFaultyProxy(t, server).url)
	w := startWitness(t, b.url, "echo", map[string]any{"value": "é"})
	before := b.measure(t)
	for name, visit := range map[string]func(*testing.T, *watched, *witness){
		"1,000 streams": openStreams, "1,000 calls": openCalls, "never reads": neverRead, "vanishes": vanish,
	} {
		t.Run(name, func(t *testing.T) {
			most := b.peak(t)
			w.during(t, func() { visit(t, b, w) })
			b.settles(t, before)
			if grown := b.peak(t) - most; grown > 192<<20 {
				t.Errorf("the bridge's memory grew by %d MiB", grown>>20)
			}
		})
	}
	t.Run("vanishes from children", func(t *testing.T) {
		c := newChildren(t)
		b := watch(t, c.dir, "", "--stdio", c.command)
		w := startWitness(t, b.url, "test_simple_text", nil)
		before := b.measure(t)
		w.during(t, func() { vanish(t, b, w) })
		b.settles(t, before)
	})
}

const thousand = 1000

// openRaw is a session without an SDK.
func openRaw(t *testing.T, b *watched) *rawClient {
	t.Helper()
	c := &rawClient{t: t, url: b.url}
	opened := c.post(initialize("1", handshakes, "raw"))
	if _, err := opened.answer("1"); err != nil {
		t.Fatal(err)
	}
	c.session, c.version = opened.header.Get("Mcp-Session-Id"), handshakes
	c.post(initialized)
	return c
}

// openStreams opens standalone streams, all in one session, and drops them.
func openStreams(t *testing.T, b *watched, w *witness) {
	c := openRaw(t, b)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var running sync.WaitGroup
	answers := make(chan error, thousand)
	for range thousand {
		running.Go(func() {
			response, err := c.open(ctx, http.MethodGet, "", "Accept", "text/event-stream", "Content-Type", "")
			if err == nil && response.StatusCode != http.StatusOK {
				err = errors.New(response.Status)
			}
			answers <- err
			if err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		})
	}
	for range thousand {
		if err := <-answers; err != nil {
			t.Errorf("a stream is not opened: %v", err)
		}
	}
	w.makes(t, 20)
	leave()
	running.Wait()
	c.send(http.MethodDelete, "", "Accept", "")
}

// openCalls makes calls whose answers stall, all in one session: each ends with
// an error, soon.
func openCalls(t *testing.T, b *watched, _ *witness) {
	c := openRaw(t, b)
	ctx, cancel := context.WithTimeout(t.Context(), faultLimit)
	defer cancel()
	var running sync.WaitGroup
	for i := range thousand {
		running.Go(func() {
			response, err := c.open(ctx, http.MethodPost, call(fmt.Sprint(i+10), "echo", `{"value":"é","fault":"stall"}`), "Accept", acceptBoth)
			if err != nil {
				t.Errorf("call %d: %v", i, err)
				return
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || !strings.Contains(string(body), silent) && !strings.Contains(string(body), "the limit max_") {
				t.Errorf("call %d: %s %q, %v", i, response.Status, body, err)
			}
		})
	}
	running.Wait()
	c.send(http.MethodDelete, "", "Accept", "")
}

// neverRead asks for large answers, on connections from which nothing is read.
func neverRead(t *testing.T, b *watched, w *witness) {
	c := openRaw(t, b)
	to, err := url.Parse(b.url)
	must(t, err)
	body := call("7", "echo", `{"value":"`+strings.Repeat("é", 2<<20)+`"}`)
	for range 8 {
		conn, err := net.Dial("tcp", to.Host)
		must(t, err)
		defer conn.Close()
		must(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
		must(t, conn.SetWriteDeadline(time.Now().Add(faultLimit)))
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: %s\r\n"+
			"Mcp-Session-Id: %s\r\nMcp-Protocol-Version: %s\r\nContent-Length: %d\r\n\r\n%s",
			to.Path, to.Host, acceptBoth, c.session, c.version, len(body), body)
		must(t, err)
		w.makes(t, 10)
	}
	w.makes(t, 100)
	// The session is left behind too, without DELETE: it ends by its timeout.
}

// vanish kills a client of a real SDK in the middle of its calls.
func vanish(t *testing.T, b *watched, w *witness) {
	visitors := startClients(t, b.url)
	for name, r := range visitors.all(five, order{Op: "open", URL: visitors.url}) {
		if !r.OK {
			t.Fatalf("%s is not opened: %s", name, r.Error)
		}
	}
	w.must(t, order{Op: "rest", Session: witnessName}) // so that only these calls count
	began := b.called(t)
	for _, name := range five {
		visitors.begin(order{Op: "call", Session: name, Tool: w.tool.Tool, Args: map[string]any{"value": "é", "fault": "hang"}})
	}
	eventually(t, "the calls reach the server", func() bool { return b.called(t) == began+len(five) })
	w.must(t, w.steadily())
	must(t, visitors.cmd.Process.Kill())
	w.makes(t, 20)
}
