package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

// eventStream is an open event stream.
type eventStream struct {
	t    *testing.T
	text *bufio.Reader
	site string
	post string // where messages go
}

func openStream(t *testing.T, site string) *eventStream {
	t.Helper()
	resp, err := http.Get(site + "/sse")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	s := &eventStream{t: t, text: bufio.NewReader(resp.Body), site: site}
	path, ok := strings.CutPrefix(s.next(), "event: endpoint\ndata: ")
	if !ok || !strings.HasPrefix(path, "/") {
		t.Fatalf("the first event leads to %q", path)
	}
	s.post = resp.Request.URL.Scheme + "://" + resp.Request.URL.Host + strings.TrimSpace(path)
	return s
}

// next returns the next event, "" at the end.
func (s *eventStream) next() string {
	var event strings.Builder
	for {
		line, err := s.text.ReadString('\n')
		if err != nil {
			return ""
		}
		if event.WriteString(line); line == "\n" {
			return event.String()
		}
	}
}

// send posts a message.
func (s *eventStream) send(text string) {
	s.t.Helper()
	resp, err := http.Post(s.post, "application/json", strings.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusAccepted || string(body) != "Accepted" {
		s.t.Errorf("%s: %d %s", text, resp.StatusCode, body)
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

// bridgeTo serves an upstream and returns where, and what awaits the end.
func bridgeTo(t *testing.T, args ...string) (site string, s *surroundings, end func() int) {
	t.Helper()
	s = newSurroundings(nil)
	code := make(chan int, 1)
	go func() { code <- run(append([]string{"serve", "--port", "0", "--admin", "off"}, args...), s.process()) }()
	var line struct{ Endpoint string }
	if err := json.Unmarshal([]byte(s.err.await(t, `"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(line.Endpoint, "/mcp"), s, func() int {
		s.stop <- syscall.SIGTERM
		return <-code
	}
}

// TestServeStreams serves a client of HTTP+SSE. An idle stream does not delay
// the stop.
func TestServeStreams(t *testing.T) {
	site, s, end := bridgeTo(t, upstream(t).URL+"/mcp")
	stream := openStream(t, site)
	stream.send(initialize)
	if got := stream.next(); !strings.Contains(got, `"protocolVersion":"2024-11-05"`) {
		t.Errorf("initialize: %q", got)
	}
	stream.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	stream.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
	if got := stream.next(); !strings.Contains(got, `{\"n\":9007199254740993`) {
		t.Errorf("tools/call: %q", got)
	}
	if got := end(); got != 0 || stream.next() != "" || strings.Contains(s.err.String(), "not every call ended") {
		t.Errorf("exit code %d:\n%s", got, s.err)
	}
}

// TestServeChains puts one bridge before another: the first finds out that
// the second, addressed by its event stream, speaks HTTP+SSE.
func TestServeChains(t *testing.T) {
	inner, _, endInner := bridgeTo(t, upstream(t).URL+"/mcp")
	for _, how := range [][]string{{inner + "/sse"}, {"--sse", inner + "/sse"}} {
		site, s, end := bridgeTo(t, how...)
		s.err.await(t, "the upstream answers")
		c := &client{t: t, endpoint: site + "/mcp"}
		if status, answer := c.initialize("2025-06-18"); status != 200 || !strings.Contains(answer, `"protocolVersion":"2025-06-18"`) {
			t.Errorf("%v: %d %s", how, status, answer)
		}
		_, answer := c.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
		if !strings.Contains(answer, `"n":9007199254740993`) {
			t.Errorf("%v: %s", how, answer)
		}
		if code := end(); code != 0 {
			t.Errorf("%v: exit code %d", how, code)
		}
	}
	if code := endInner(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestStreamsCanBeOff serves no HTTP+SSE, or elsewhere.
func TestStreamsCanBeOff(t *testing.T) {
	for _, c := range []struct {
		args   []string
		path   string
		status int
	}{
		{[]string{"--sse-path", "off"}, "/sse", 404},
		{[]string{"--message-path="}, "/sse", 404},
		{[]string{"--sse-path", "/old/sse"}, "/sse", 404},
		{[]string{"--sse-path", "/old/sse"}, "/old/sse", 405},
		{[]string{"--message-path", "/old/m"}, "/old/m/", 415},
		{nil, "/sse/", 405},
	} {
		site, _, end := bridgeTo(t, append(c.args, upstream(t).URL+"/mcp")...)
		resp, err := http.Post(site+c.path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%v %s: status %d", c.args, c.path, resp.StatusCode)
		}
		end()
	}
}

// TestStopWaitsForCallsOnStreams lets a call end whose answer goes to a
// stream.
func TestStopWaitsForCallsOnStreams(t *testing.T) {
	arrived, answer := make(chan struct{}), make(chan struct{})
	inner := upstream(t).Config.Handler
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "tools/call") {
			close(arrived)
			<-answer
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		inner.ServeHTTP(w, r)
	}))
	defer slow.Close()
	site, s, end := bridgeTo(t, slow.URL)
	stream := openStream(t, site)
	stream.send(initialize)
	stream.next()
	stream.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
	<-arrived
	code := make(chan int, 1)
	go func() { code <- end() }()
	s.err.await(t, "stopping")
	close(answer)
	if got := stream.next(); !strings.Contains(got, `"id":2`) || stream.next() != "" {
		t.Errorf("the call under way got %q", got)
	}
	if got := <-code; got != 0 || strings.Contains(s.err.String(), "not every call ended") {
		t.Errorf("exit code %d:\n%s", got, s.err)
	}
}
