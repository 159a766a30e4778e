package streamable

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// narrow makes a shelf small, so that tests fill it.
func narrow(s *shelf) {
	s.limits.tapeBytes, s.limits.sessionBytes, s.limits.totalBytes = 4<<10, 8<<10, 12<<10
	s.limits.sessionTapes, s.limits.totalTapes = 3, 5
}

// check counts what is on the shelf anew.
func check(t *testing.T, s *shelf) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	tapes, bytes := 0, 0
	for id, own := range s.sessions {
		sum := 0
		for _, tape := range own.tapes {
			sum += tape.counted
			tapes++
		}
		if sum != own.bytes || sum > s.limits.sessionBytes || len(own.tapes) > s.limits.sessionTapes || len(own.tapes) == 0 {
			t.Errorf("session %s: %d tapes of %d bytes, counted %d", id, len(own.tapes), sum, own.bytes)
		}
		bytes += sum
	}
	if bytes != s.bytes || bytes > s.limits.totalBytes || tapes > s.limits.totalTapes || tapes != s.order.Len() {
		t.Errorf("%d tapes of %d bytes, counted %d of %d", tapes, bytes, s.order.Len(), s.bytes)
	}
}

func noise(bytes int) string {
	return `{"jsonrpc":"2.0","method":"x","params":{"x":"` + strings.Repeat("x", bytes) + `"}}`
}

// TestShelfBounds has calls of many sessions that nobody comes back to.
func TestShelfBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		narrow(s)
		var streams []*transports.Stream
		for i := range 40 {
			stream := transports.NewStream(1 << 20)
			streams = append(streams, stream)
			p := s.record(fmt.Sprint("s", i%7), stream, false)
			if i%3 > 0 {
				p.leave()
			}
			for range 10 {
				stream.Push(message(t, noise(i*40)))
				for i%3 == 0 {
					if text, _ := p.next(); text == nil {
						break
					}
				}
				synctest.Wait()
				check(t, s)
			}
			if i%3 == 0 {
				p.leave()
			}
		}
		open := 0
		for _, stream := range streams {
			if stream.Open() {
				open++
			}
			stream.End()
		}
		if open != s.order.Len() || open == 0 {
			t.Errorf("%d streams are open with %d tapes", open, s.order.Len())
		}
	})
}

// TestOldestGoFirst keeps what is in use.
func TestOldestGoFirst(t *testing.T) {
	s := newShelf()
	narrow(s)
	var tapes []*tape
	for range 3 {
		p := s.record("s", transports.NewStream(1), true)
		p.leave()
		tapes = append(tapes, p.tape)
	}
	tapes[0].resume(0).leave() // used again
	s.record("s", transports.NewStream(1), true).leave()
	for i, want := range []bool{true, false, true} {
		if got := s.find("s", tapes[i].id) != nil; got != want {
			t.Errorf("tape %d is there: %v", i, got)
		}
	}
}

// TestAnswerTooLarge keeps an error where the answer has no room, so that who
// comes back for it does not wait for ever.
func TestAnswerTooLarge(t *testing.T) {
	k := &keeper{greet: []string{news(1)}}
	scene(t, k, func(t *testing.T, c *Client, s *Server) {
		narrow(s.shelf)
		v := visitWith(t, c, "POST", "")
		v.want(news(1))
		v.leave()
		synctest.Wait()
		k.stream().Finish(message(t, strings.Replace(pong, "{}", `{"x":"`+strings.Repeat("x", 5<<10)+`"}`, 1)))
		synctest.Wait()
		v = visitWith(t, c, "GET", v.last)
		m, err := mcp.DecodeMessage([]byte(v.next()))
		if err != nil || m.Kind != mcp.Failure || !m.ID.Equal(mcp.IntID(1)) {
			t.Errorf("%v %v", m, err)
		}
		v.want("")
	})
}

// TestGap floods a stream that nobody follows: the oldest messages go, the
// answer stays.
func TestGap(t *testing.T) {
	k := &keeper{greet: []string{news(0)}}
	scene(t, k, func(t *testing.T, c *Client, s *Server) {
		narrow(s.shelf)
		v := visitWith(t, c, "POST", "")
		v.want(news(0))
		v.leave()
		synctest.Wait()
		for n := range 1000 {
			k.stream().Push(message(t, news(n)))
		}
		k.stream().Finish(message(t, pong))
		synctest.Wait()
		check(t, s.shelf)
		v = visitWith(t, c, "GET", v.last)
		var got []string
		for text := v.next(); text != ""; text = v.next() {
			got = append(got, text)
		}
		if n := len(got); n < 10 || n > 100 || got[n-1] != pong || got[n-2] != news(999) {
			t.Errorf("%d messages: %q", n, got)
		}
	})
}

// TestDroppedUnderClient drops the tape of a client that reads on.
func TestDroppedUnderClient(t *testing.T) {
	k := &keeper{greet: []string{news(1), news(2)}}
	scene(t, k, func(t *testing.T, c *Client, s *Server) {
		v := visitWith(t, c, "POST", "")
		v.want(news(1), news(2))
		s.shelf.forget("s1")
		k.stream().Push(message(t, news(3)))
		v.want(news(3))
		k.stream().Push(message(t, news(4)))
		v.want(news(4))
		v.leave()
		if synctest.Wait(); k.stream().Open() || s.shelf.bytes != 0 {
			t.Error("a dropped stream is kept")
		}
	})
}

// TestTakeOvers has a client that comes back again and again, while messages
// are pushed: it receives each once, in order.
func TestTakeOvers(t *testing.T) {
	const count = 2000
	s := newShelf()
	stream := transports.NewStream(1 << 20)
	p := s.record("s", stream, false)
	go func() {
		for n := range count {
			m, err := mcp.DecodeMessage([]byte(news(n)))
			if err != nil || !stream.Push(m) {
				t.Error(errors.Join(err, errors.New("the stream is closed")))
			}
		}
		stream.End()
	}()
	var got []string
	for visits := 0; ; visits++ {
		over, empty := false, false
		for range visits % 13 {
			var text []byte
			if text, over = p.next(); text != nil {
				got = append(got, string(text))
			}
			empty = text == nil
		}
		if over {
			break
		}
		if empty { // as a response does that has written all there is
			select {
			case <-stream.Ready():
			case <-p.again:
			}
		}
		switch at := p.at; visits % 3 {
		case 0: // it leaves and comes back
			p.leave()
			p = p.tape.resume(at)
		case 1: // it comes back before the old player knows
			old := p
			p = p.tape.resume(at)
			old.leave()
		}
	}
	if len(got) != count {
		t.Fatalf("%d messages arrived", len(got))
	}
	for n, text := range got {
		if !strings.Contains(text, news(n)) {
			t.Fatalf("message %d is %q", n, text)
		}
	}
}
