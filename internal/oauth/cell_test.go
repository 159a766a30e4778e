package oauth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// One search for all who ask, and it counts for a while.
func TestCell(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want time.Duration
	}{"found": {nil, foundFor}, "absent": {errAbsent, absentFor}, "failed": {errDown, failedFor}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var one cell[int]
				var searches atomic.Int64
				find := func(context.Context) (int, error) {
					time.Sleep(time.Second)
					return int(searches.Add(1)), c.err
				}
				var wg sync.WaitGroup
				for range 10 {
					wg.Go(func() {
						if n, err := one.get(t.Context(), find); n != 1 || !errors.Is(err, c.err) {
							t.Errorf("%d, %v", n, err)
						}
					})
				}
				wg.Wait()
				time.Sleep(c.want - time.Nanosecond)
				if n, _ := one.get(t.Context(), find); n != 1 {
					t.Errorf("search %d before the time", n)
				}
				time.Sleep(time.Nanosecond)
				if n, _ := one.get(t.Context(), find); n != 2 {
					t.Errorf("search %d after the time", n)
				}
				one.doubt()
				if n, _ := one.get(t.Context(), find); n != 2 {
					t.Errorf("search %d at once", n)
				}
				time.Sleep(failedFor)
				if n, _ := one.get(t.Context(), find); n != 3 {
					t.Errorf("search %d in doubt", n)
				}
			})
		})
	}
}

// A server that cannot be asked still has what it had; one that says that it
// has nothing has not.
func TestCellKeepsWhatWasFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var one cell[int]
		ask := func(n int, err error) (int, error) {
			return one.get(t.Context(), func(context.Context) (int, error) { return n, err })
		}
		for _, c := range []struct {
			found int
			err   error
			n     int
			want  error
			after time.Duration
		}{
			{0, errDown, 0, errDown, failedFor}, {1, nil, 1, nil, foundFor}, {0, errDown, 1, nil, failedFor}, {0, errDown, 1, nil, failedFor},
			{0, errAbsent, 0, errAbsent, absentFor}, {0, errDown, 0, errDown, failedFor},
		} {
			if n, err := ask(c.found, c.err); n != c.n || !errors.Is(err, c.want) {
				t.Errorf("%d, %v; want %d, %v", n, err, c.n, c.want)
			}
			time.Sleep(c.after)
		}
	})
}

// Who leaves does not end the search, and does not wait for it either.
func TestCellWithoutPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var one cell[int]
		ctx, cancel := context.WithCancel(t.Context())
		go one.get(ctx, func(ctx context.Context) (int, error) { //nolint:errcheck // the next one reads it
			time.Sleep(time.Second)
			return 7, ctx.Err()
		})
		synctest.Wait()
		impatient, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		if _, err := one.get(impatient, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
		if n, err := one.get(t.Context(), nil); n != 7 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
}

// A search that panics leaves no one waiting.
func TestCellPanic(t *testing.T) {
	var one cell[int]
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		one.get(t.Context(), func(context.Context) (int, error) { panic("x") }) //nolint:errcheck // it panics
	}()
	if _, err := one.get(t.Context(), nil); err == nil {
		t.Error("the search is taken for one that found")
	}
}

// A server that is silent holds up an answer for so long and no longer.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := discovery(t, transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}), nil)
		begun := time.Now()
		if got := rewritten(t, d, 401, "Bearer"); len(got) != 1 || got[0] != "Bearer" {
			t.Errorf("%q", got)
		}
		if took := time.Since(begun); took != searchTime {
			t.Errorf("%v", took)
		}
		rewritten(t, d, 401, "Bearer") // and not again at once
		if took := time.Since(begun); took != searchTime {
			t.Errorf("%v", took)
		}
	})
}

// Documents are asked for once, then kept.
func TestDocumentsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := protectedWorld()
		d := discovery(t, w, nil)
		all := site(t).Endpoints([]*Discovery{d})
		for range 50 {
			rewritten(t, d, 401)
			is(t, get(all, prmMCP), 200, shownPRM)
		}
		if n := len(w.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		time.Sleep(foundFor)
		rewritten(t, d, 401)
		if n := len(w.requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

// A new pointer is followed soon, the same one again is no news.
func TestNewPointers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const first, second = `Bearer resource_metadata="https://up.example/1"`, `Bearer resource_metadata="https://up.example/2"`
		w := newWorld().has(upstreamOrigin+"/1", upPRM).has(upstreamOrigin+"/2", `{"resource":"https://up.example/mcp","authorization_servers":["b"]}`)
		d := discovery(t, w, nil)
		all := site(t).Endpoints([]*Discovery{d})
		rewritten(t, d, 401, first)
		for range 5 {
			time.Sleep(failedFor)
			rewritten(t, d, 401, first)
			is(t, get(all, prmMCP), 200, shownPRM)
		}
		if n := len(w.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		rewritten(t, d, 401, second)
		is(t, get(all, prmMCP), 200, `{"resource":"https://bridge.example/mcp","authorization_servers":["b"]}`)
	})
}
