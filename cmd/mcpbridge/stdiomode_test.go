package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// echo is a server whose tool repeats its argument, but only when as many
// calls as it waits for are under way at once.
func echo(t *testing.T, together int) *httptest.Server {
	var calls sync.WaitGroup
	calls.Add(together)
	inner := upstream(t).Config.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Arguments json.RawMessage }
		}
		if json.Unmarshal(body, &m) != nil || m.Method != "tools/call" {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			inner.ServeHTTP(w, r)
			return
		}
		calls.Done()
		calls.Wait()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"x"}],"structuredContent":%s}}`, m.ID, m.Params.Arguments)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestStdioModes: two clients with calls under way at once, under the same
// ids, get each their own answer, from one process or from two.
func TestStdioModes(t *testing.T) {
	for mode, processes := range map[string]int{"shared": 1, "per-session": 2} {
		t.Run(mode, func(t *testing.T) {
			args := append([]string{"--stdio-mode", mode}, itself("stdio", echo(t, 2).URL+"/mcp")...)
			site, s, end := bridgeTo(t, args...)
			var wg sync.WaitGroup
			for i := range 2 {
				wg.Go(func() {
					c := &client{t: t, endpoint: site + "/mcp"}
					if status, answer := c.initialize([]string{"2024-11-05", "2025-11-25"}[i]); status != 200 {
						t.Errorf("initialize: %d %s", status, answer)
					}
					_, answer := c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{"from":%d}}}`, i))
					if want := fmt.Sprintf(`"structuredContent":{"from":%d}`, i); !strings.Contains(answer, want) {
						t.Errorf("client %d got %s", i, answer)
					}
				})
			}
			wg.Wait()
			if code := end(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if pids := processesOf(s.err.String()); len(pids) != processes {
				t.Errorf("%d processes:\n%s", len(pids), s.err)
			}
			if shared := strings.Contains(s.err.String(), "all sessions share one"); shared != (mode == "shared") {
				t.Errorf("the log says:\n%s", s.err)
			}
		})
	}
}

// processesOf returns the ids of the processes that said in a log that they
// serve: each does so once, when it starts.
func processesOf(log string) map[int]bool {
	pids := map[int]bool{}
	for text := range strings.Lines(log) {
		var line struct {
			PID  int
			Line string
		}
		if json.Unmarshal([]byte(text), &line) == nil && line.PID != 0 && strings.Contains(line.Line, `"serving"`) {
			pids[line.PID] = true
		}
	}
	return pids
}

// TestSharedProcessAsksNobody: what a client can be asked is not told to a
// server that others share.
func TestSharedProcessAsksNobody(t *testing.T) {
	for mode, asked := range map[string]bool{"shared": false, "per-session": true} {
		t.Run(mode, func(t *testing.T) {
			capabilities := make(chan string, 1)
			inner := upstream(t).Config.Handler
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var m struct {
					Method string
					Params struct{ Capabilities json.RawMessage }
				}
				if json.Unmarshal(body, &m) == nil && m.Method == "initialize" {
					capabilities <- string(m.Params.Capabilities)
				}
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				inner.ServeHTTP(w, r)
			}))
			defer up.Close()
			site, _, end := bridgeTo(t, append([]string{"--stdio-mode", mode}, itself("stdio", up.URL+"/mcp")...)...)
			c := openSocket(t, site)
			say(t, c, strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"sampling":{},"roots":{}}`, 1), `"id":1`)
			if got := <-capabilities; strings.Contains(got, "sampling") != asked {
				t.Errorf("the server is told of %s", got)
			}
			c.Close() // or the stop waits for its farewell
			end()
		})
	}
}
