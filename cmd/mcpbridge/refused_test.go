package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// What a transport refuses before anybody else sees it is counted too.
func TestRefusalsAreCounted(t *testing.T) {
	s := newSurroundings(nil)
	code := make(chan int, 1)
	go func() {
		code <- run([]string{"serve", upstream(t).URL + "/mcp", "--port", "0", "--admin", "127.0.0.1:0", "--max-body", "1KiB"}, s.process())
	}()
	var line struct{ Endpoint, Admin string }
	if err := json.Unmarshal([]byte(s.err.await(t, `"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(line.Endpoint, "/mcp")
	for _, c := range []struct {
		verb, path, body, name, value string
		status                        int
	}{
		{"POST", "/mcp", "{}", "Origin", "https://evil.example", http.StatusForbidden},
		{"GET", "/ws", "", "Origin", "https://evil.example", http.StatusForbidden},
		{"PUT", "/mcp", "{}", "X", "y", http.StatusMethodNotAllowed},
		{"POST", "/mcp", "{}", "Accept", "text/html", http.StatusNotAcceptable},
		{"POST", "/mcp", "{}", "Content-Type", "text/plain", http.StatusUnsupportedMediaType},
		{"POST", "/mcp", `"` + strings.Repeat("x", 2000) + `"`, "X", "y", http.StatusRequestEntityTooLarge},
		{"POST", "/messages", "{}", "X", "y", http.StatusBadRequest},
	} {
		r, err := http.NewRequest(c.verb, base+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(c.name, c.value)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s %s with %s: %s is answered %d, not %d", c.verb, c.path, c.name, c.value, resp.StatusCode, c.status)
		}
	}
	_, text := fetch(t, line.Admin+"metrics")
	for reason, n := range map[string]string{
		"Forbidden": "2", "Method Not Allowed": "1", "Not Acceptable": "1", "Unsupported Media Type": "1", "Request Entity Too Large": "1", "Bad Request": "1",
	} {
		if want := `mcpbridge_errors_total{leg="client",reason="` + reason + `",route="default"} ` + n; !strings.Contains(text, want) {
			t.Errorf("the metrics have no line %s", want)
		}
	}
	s.stop <- syscall.SIGTERM
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
}
