package streamable

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// broken is a server that answers a POST and then each GET as its script
// says. A text is an event stream that ends there; "!" in front breaks it off,
// and a status alone is one.
type broken struct {
	first string
	gets  []string

	mu   sync.Mutex
	seen []http.Header // of the GETs
	at   []time.Time
}

func (b *broken) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Last-Event-Id") != "" {
			w.WriteHeader(http.StatusBadRequest) // only a GET asks for more of a stream
			return
		}
		if strings.Contains(string(body), `"initialize"`) {
			w.Header().Set("Mcp-Session-Id", "s1")
			says(200, typeJSON, pong)(w, r)
			return
		}
		b.say(w, r, b.first)
		return
	}
	b.mu.Lock()
	n := len(b.seen)
	b.seen, b.at = append(b.seen, r.Header), append(b.at, time.Now())
	b.mu.Unlock()
	b.say(w, r, b.gets[min(n, len(b.gets)-1)])
}

func (b *broken) say(w http.ResponseWriter, r *http.Request, text string) {
	switch text {
	case "404":
		says(404, typeJSON, "{}")(w, r)
		return
	case "405":
		says(405, "", "")(w, r)
		return
	case "503":
		says(503, "", "")(w, r)
		return
	case "page":
		says(200, "text/html", "<html>")(w, r)
		return
	}
	text, off := strings.CutPrefix(text, "!")
	says(200, typeEvents, text)(w, r)
	_ = http.NewResponseController(w).Flush()
	if off {
		panic(http.ErrAbortHandler)
	}
}

func event(id, data string) string {
	return "event: message\nid: " + id + "\ndata: " + data + "\n\n"
}

const primed = "id: p\nretry: 2000\ndata:\n\n"

func TestComeBack(t *testing.T) {
	for name, c := range map[string]struct {
		first string
		gets  []string
		want  string // what is received
		ids   string // that were asked for
		wait  time.Duration
		err   error // nil: it was answered
	}{
		"broken":          {"!" + event("1", update), []string{event("2", pong)}, update + pong, "1", time.Second, nil},
		"closed":          {primed, []string{event("2", pong)}, pong, "p", 2 * time.Second, nil},
		"polled":          {primed, []string{event("1", update), event("2", update), event("3", pong)}, update + update + pong, "p 1 2", 6 * time.Second, nil},
		"polled often":    {primed, []string{event("1", update), event("2", update), event("3", update), event("4", update), event("5", update), event("6", pong)}, strings.Repeat(update, 5) + pong, "p 1 2 3 4 5", 12 * time.Second, nil},
		"retry in bounds": {"id: 1\nretry: 900000\ndata:\n\n", []string{event("2", pong)}, pong, "1", maxRetry, nil},
		"not too fast":    {"id: 1\nretry: 1\ndata:\n\n", []string{event("2", pong)}, pong, "1", minRetry, nil},
		"busy":            {primed, []string{"503", "503", event("2", pong)}, pong, "p p p", 6 * time.Second, nil},
		"nothing new":     {primed, []string{"!: x\n\n"}, "", "p p p p", 8 * time.Second, errBroken},
		"ends":            {primed, []string{": x\n\n"}, "", "p p p p", 8 * time.Second, transports.ErrNoAnswer},
		"refused":         {primed, []string{"405"}, "", "p", 2 * time.Second, errNotTakenUp},
		"no stream":       {primed, []string{"page"}, "", "p", 2 * time.Second, errNotTakenUp},
		"session gone":    {primed, []string{"404"}, "", "p", 2 * time.Second, errNotTakenUp},
		"no id":           {"!data: " + update + "\n\n", []string{"404"}, update, "", 0, errBroken},
		"id reset":        {"!" + event("1", update) + "id:\ndata:\n\n", []string{"404"}, update, "", 0, errBroken},
		"bad id":          {"!" + event("\x01", update), []string{"404"}, update, "", 0, errBroken},
		"long id":         {"!" + event(strings.Repeat("x", 1025), update), []string{"404"}, update, "", 0, errBroken},
		"answered":        {"!" + event("1", pong), []string{"404"}, pong, "", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &broken{first: c.first, gets: c.gets}
				client, stop := inMemory(t, b, ClientConfig{})
				defer stop()
				u := client.Conversation()
				open(t, u)
				u.Agree("v", mcp.Traits{VersionHeader: true, Sessions: true})
				start := time.Now()
				got, err := send(t, u, ping)
				if strings.Join(got, "") != c.want || !fits(err, c.err) || time.Since(start) != c.wait {
					t.Errorf("after %v: %q %v", time.Since(start), got, err)
				}
				b.check(t, c.ids)
			})
		})
	}
}

// errBroken stands for the error of a connection.
var errBroken = errors.New("broken")

func fits(err, want error) bool {
	_, unreachable := errors.AsType[*transports.Unreachable](err)
	switch {
	case unreachable, errors.Is(err, transports.ErrSessionGone): // would say that the call may be sent again
		return false
	case want == errBroken:
		return err != nil && !errors.Is(err, transports.ErrNoAnswer) && !errors.Is(err, errNotTakenUp)
	}
	return errors.Is(err, want)
}

func (b *broken) check(t *testing.T, ids string) {
	t.Helper()
	var asked []string
	for _, h := range b.seen {
		asked = append(asked, h.Get("Last-Event-Id"))
		if h.Get("Mcp-Session-Id") != "s1" || h.Get("Mcp-Protocol-Version") != "v" || h.Get("Accept") != typeEvents || h.Get("Content-Type") != "" {
			t.Errorf("asked with %v", h)
		}
	}
	if got := strings.Join(asked, " "); got != ids {
		t.Errorf("asked for %q, want %q", got, ids)
	}
}

// TestNoComeBack has a revision in which leaving a stream cancels.
func TestNoComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broken{first: "!" + event("1", update), gets: []string{event("2", pong)}}
		client, stop := inMemory(t, b, ClientConfig{})
		defer stop()
		u := client.Conversation()
		u.Agree("v", mcp.Traits{VersionHeader: true, PostOnly: true, DisconnectCancels: true})
		if _, err := send(t, u, ping); !fits(err, errBroken) || len(b.seen) > 0 {
			t.Errorf("%v, asked %d times", err, len(b.seen))
		}
	})
}

// TestComeBackEnds ends the call, and the conversation, while it waits to come
// back.
func TestComeBackEnds(t *testing.T) {
	for _, closes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			client, stop := inMemory(t, &broken{first: primed, gets: []string{"503"}}, ClientConfig{})
			defer stop()
			u := client.Conversation()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(time.Second, func() {
				if closes {
					_ = u.Close(context.Background()) // there is no session to end
				} else {
					cancel()
				}
			})
			start := time.Now()
			err := u.Send(ctx, message(t, ping), transports.Outgoing{})
			if err == nil || time.Since(start) != time.Second || !closes && !errors.Is(err, context.Canceled) {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		})
	}
}

// TestListenGoesOn opens the standalone stream again and again, from where it
// broke (field report 77).
func TestListenGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broken{gets: []string{"id: 1\nretry: 5000\ndata: " + update + "\n\n", "!" + event("2", update), "404", event("1", update), "405"}}
		client, stop := inMemory(t, b, ClientConfig{})
		defer stop()
		u := client.Conversation()
		open(t, u)
		u.Agree("v", mcp.Traits{VersionHeader: true, Sessions: true})
		start, errs := time.Now(), []error{}
		for range 5 {
			errs = append(errs, u.Listen(t.Context(), transports.Outgoing{Receive: func(*mcp.Message) {}}))
		}
		b.check(t, " 1 2  1")
		if errs[0] != nil || errs[1] == nil || !errors.Is(errs[2], errNotTakenUp) || errs[3] != nil || !errors.Is(errs[4], errNotTakenUp) {
			t.Errorf("%v", errs)
		}
		if b.at[1].Sub(start) != 5*time.Second {
			t.Errorf("the second came after %v", b.at[1].Sub(start))
		}
		u.Reset()
		open(t, u)
		u.Agree("v", mcp.Traits{VersionHeader: true, Sessions: true})
		if err := u.Listen(t.Context(), transports.Outgoing{}); !errors.Is(err, transports.ErrNoStream) {
			t.Errorf("%v", err)
		}
		if id := b.seen[5].Get("Last-Event-Id"); id != "" {
			t.Errorf("a new session asks for %q", id)
		}
	})
}
