package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

// upstream is a server of the newest handshake revision whose only tool
// answers with structured content alone, and that shows which credential and
// version it was given.
func upstream(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		result := "{}"
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"up","version":"1"}}`
		case "tools/call":
			result = fmt.Sprintf(`{"structuredContent":{"n":9007199254740993,"key":%q}}`, r.Header.Get("X-Key"))
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(s.Close)
	return s
}

// client talks to an endpoint by plain JSON bodies.
type client struct {
	t        *testing.T
	endpoint string
	session  string
}

func (c *client) post(body string) (int, string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.endpoint, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return resp.StatusCode, string(text)
}

func (c *client) initialize(version string) (int, string) {
	status, answer := c.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version +
		`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return status, answer
}

func TestServeBridges(t *testing.T) {
	s := newSurroundings(map[string]string{"MCPBRIDGE_HEADER": "X-Key: secret"})
	code := make(chan int, 1)
	go func() {
		code <- run([]string{"serve", upstream(t).URL + "/mcp", "--port", "0", "--admin", "127.0.0.1:0"}, s.process())
	}()
	var line struct{ Endpoint, Admin string }
	if err := json.Unmarshal([]byte(s.err.await(t, `"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, endpoint: line.Endpoint}
	if status, answer := c.initialize("2024-11-05"); status != 200 || !strings.Contains(answer, `"protocolVersion":"2024-11-05"`) {
		t.Errorf("initialize: %d %s", status, answer)
	}
	_, answer := c.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
	if !strings.Contains(answer, `{\"n\":9007199254740993,\"key\":\"secret\"}`) {
		t.Errorf("tools/call: %s", answer)
	}
	if status, text := fetch(t, line.Admin+"readyz"); status != 200 {
		t.Errorf("readyz: %d %s", status, text)
	}
	_, text := fetch(t, line.Admin+"metrics")
	want := `mcpbridge_negotiations_total{negotiated="2025-11-25",requested="2024-11-05",route="default",side="server"} 1`
	if !strings.Contains(text, want) {
		t.Errorf("metrics lack %s:\n%s", want, text)
	}
	s.stop <- syscall.SIGTERM
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
	if strings.Contains(s.err.String(), "secret") {
		t.Errorf("the log shows a header:\n%s", s.err)
	}
}
