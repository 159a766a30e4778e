package transporttest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

func testOrder(t *testing.T, p Pair) {
	const count = 500
	p.Serve(func(_ context.Context, m *mcp.Message, send func(*mcp.Message) error) {
		for i := range count {
			_ = send(note(i, i))
		}
		_ = send(m.Answer(mcp.NewObject()))
	})
	got := ask(t, p, request(1, `{}`))
	if len(got) != count+1 || got[count].Kind != mcp.Result {
		t.Fatalf("received %d messages, want %d", len(got), count+1)
	}
	for i, m := range got[:count] {
		if number(m) != strconv.Itoa(i) {
			t.Fatalf("message %d has number %s", i, number(m))
		}
	}
}

func testLargeMessage(t *testing.T, p Pair) {
	p.Serve(echo)
	params := `{"data":"` + strings.Repeat("0123456789abcdef", 2<<20/16) + `"}`
	got := ask(t, p, request(1, params))
	if len(got) != 1 || string(got[0].Body.Raw()) != params {
		t.Fatal("a large message did not come back as it was sent")
	}
}

func testUnusualJSON(t *testing.T, p Pair) {
	p.Serve(echo)
	for i, params := range []string{
		"{\n  \"a\": 1,\r\n\t\"b\": [ 1,\n2 ]\n}",
		"{\"text\":\"a\u2028b\u2029c\u0085d\"}",
		`{"lone":"\ud800","pair":"\ud83d\ude00","slash":"a\/b","nul":"\u0000"}`,
		`{"id":9007199254740993,"f":1.10,"e":1e2,"z":-0,"big":123456789012345678901234567890,"huge":1e400}`,
		"{\"emoji\":\"\U0001F600\",\"combining\":\"e\u0301\",\"bom\":\"\ufeff\"}",
		`{"b":1,"a":2,"b2":{},"empty":[],"null":null,"":0}`,
		`{"sse":"data: x\n\nevent: y"}`,
	} {
		got := ask(t, p, request(i, params))
		if len(got) != 1 || !got[0].ID.Equal(mcp.IntID(int64(i))) || !sameValue(got[0].Body.Raw(), mcp.Raw(params)) {
			t.Errorf("%q came back as %q", params, got[0].Body.Raw())
		}
	}
	for _, id := range []mcp.ID{mcp.TextID("1"), mcp.TextID(""), mcp.IntID(0), mcp.TextID("\u2028é")} {
		m := request(0, `{}`)
		m.ID = id
		if got := ask(t, p, m); len(got) != 1 || !got[0].ID.Equal(id) {
			t.Errorf("the answer to id %s has another id", id)
		}
	}
}

func testNotification(t *testing.T, p Pair) {
	arrived := make(chan struct{})
	p.Serve(func(_ context.Context, m *mcp.Message, _ func(*mcp.Message) error) {
		if m.Kind == mcp.Notification && m.Method == mcp.Initialized {
			close(arrived)
		}
	})
	if got := ask(t, p, mcp.NewNotification(mcp.Initialized, nil)); len(got) != 0 {
		t.Errorf("a notification was answered with %v", got[0])
	}
	within(t, "the arrival", arrived)
}

func testConcurrentRequests(t *testing.T, p Pair) {
	const count = 100
	var arrived atomic.Int64
	all := make(chan struct{})
	p.Serve(func(ctx context.Context, m *mcp.Message, send func(*mcp.Message) error) {
		if arrived.Add(1) == count {
			close(all)
		}
		select { // nobody is answered before all are there
		case <-all:
			echo(ctx, m, send)
		case <-ctx.Done():
		}
	})
	var asking sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i := range count {
		asking.Go(func() {
			m := request(i, fmt.Sprintf(`{"n":%d}`, i))
			var got []*mcp.Message
			err := p.Client.Send(ctx, m, transports.Outgoing{Receive: func(m *mcp.Message) { got = append(got, m) }})
			if err != nil || len(got) != 1 || !got[0].ID.Equal(m.ID) || number(got[0]) != strconv.Itoa(i) {
				t.Errorf("request %d: %v %v", i, got, err)
			}
		})
	}
	asking.Wait()
}

func testSent(t *testing.T, p Pair) {
	p.Serve(echo)
	var calls atomic.Int64
	o := transports.Outgoing{Sent: func() { calls.Add(1) }, Receive: func(*mcp.Message) {
		if calls.Load() != 1 {
			t.Errorf("an answer came after %d calls of Sent", calls.Load())
		}
	}}
	if err := p.Client.Send(t.Context(), request(1, `{}`), o); err != nil {
		t.Fatal(err)
	}
	if calls.Load() != 1 {
		t.Errorf("Sent was called %d times", calls.Load())
	}
	p.Close()
	calls.Store(0)
	if err := p.Client.Send(t.Context(), request(2, `{}`), o); err == nil || calls.Load() != 1 {
		t.Errorf("to a closed server: %v, and Sent was called %d times", err, calls.Load())
	}
}
