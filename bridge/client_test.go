package bridge_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// client speaks HTTP to the bridge, byte by byte as a test writes it.
type client struct {
	t       *testing.T
	url     string
	web     *http.Client
	header  http.Header // of every request
	session string
}

// send makes a request. Header values that are empty remove a header.
func (c *client) send(ctx context.Context, verb, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, verb, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = c.header.Clone()
	switch verb {
	case http.MethodPost:
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	case http.MethodGet:
		req.Header.Set("Accept", "text/event-stream")
	}
	if c.session != "" {
		req.Header.Set(mcp.HeaderSession, c.session)
	}
	for i := 0; i < len(header); i += 2 {
		if req.Header.Del(header[i]); header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	return c.web.Do(req)
}

// reply is a whole answer of the bridge.
type reply struct {
	status int
	header http.Header
	body   string
}

// do makes a request and reads its whole answer.
func (c *client) do(verb, body string, header ...string) reply {
	c.t.Helper()
	r, err := c.try(verb, body, header...)
	if err != nil {
		c.t.Fatalf("%s %.200s: %v", verb, body, err)
	}
	return r
}

// try is do for goroutines of a test.
func (c *client) try(verb, body string, header ...string) (reply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	resp, err := c.send(ctx, verb, body, header...)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	r := reply{resp.StatusCode, resp.Header, string(b)}
	if resp.Header.Get("Content-Type") == "text/event-stream" && strings.Contains(resp.Request.Header.Get("Accept"), "json") {
		r.body = plain(r.body)
	}
	return r, err
}

// plain returns the message of an event stream that has one at most: to a
// client that takes both, a slow answer comes as an event.
func plain(body string) string {
	s := &stream{lines: bufio.NewReader(strings.NewReader(body))}
	message, _ := s.event()
	if _, more := s.event(); more != io.EOF {
		return body
	}
	return message
}

func (c *client) post(body string, header ...string) reply {
	c.t.Helper()
	return c.do(http.MethodPost, body, header...)
}

// open initializes and completes the handshake.
func (c *client) open(version, capabilities string) reply {
	c.t.Helper()
	r := c.post(initializeWith("0", version, capabilities))
	if r.status != http.StatusOK || r.header.Get(mcp.HeaderSession) == "" {
		c.t.Fatalf("initialize: %d %s", r.status, r.body)
	}
	c.session = r.header.Get(mcp.HeaderSession)
	if r := c.post(initialized); r.status != http.StatusAccepted || r.body != "" {
		c.t.Fatalf("initialized: %d %s", r.status, r.body)
	}
	return r
}

// request is a JSON-RPC request.
func request(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`
}

// toolCall is a call of a tool with an argument v.
func toolCall(id, tool, v string) string {
	return request(id, mcp.ToolsCall, `{"name":"`+tool+`","arguments":{"v":`+v+`}}`)
}

// echoed is what the scripted server answers to such a call.
func echoed(id, v string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":` + string(mcp.Quote(`{"v":`+v+`}`)) + `}]}}`
}

// works fails the test unless the client's session serves a call.
func (c *client) works() {
	c.t.Helper()
	r := c.post(toolCall(`"still"`, "t", `"there"`))
	if want := echoed(`"still"`, `"there"`); r.status != http.StatusOK || r.body != want {
		c.t.Errorf("the next call is answered %d %.300s", r.status, r.body)
	}
}

// stream is an answer that is read event by event.
type stream struct {
	t      *testing.T
	resp   *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// stream makes a request and returns when the headers of its answer are here.
func (c *client) stream(verb, body string, header ...string) *stream {
	c.t.Helper()
	s, err := c.tryStream(verb, body, header...)
	if err != nil {
		c.t.Fatalf("%s %.200s: %v", verb, body, err)
	}
	return s
}

func (c *client) tryStream(verb, body string, header ...string) (*stream, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	resp, err := c.send(ctx, verb, body, header...)
	if err != nil {
		cancel()
		return nil, err
	}
	s := &stream{t: c.t, resp: resp, lines: bufio.NewReader(resp.Body), cancel: cancel}
	c.t.Cleanup(s.leave)
	media := resp.Header.Get("Content-Type")
	if resp.StatusCode != http.StatusOK || media != "text/event-stream" {
		return nil, fmt.Errorf("the answer is no event stream but %d %s", resp.StatusCode, media)
	}
	return s, nil
}

// leave closes the stream from the client's side.
func (s *stream) leave() {
	s.cancel()
	s.resp.Body.Close()
}

// event returns the next message; io.EOF at the end of the stream.
func (s *stream) event() (string, error) {
	data := ""
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return "", err
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "data: "):
			data += line[len("data: "):]
		case line == "" && data != "":
			return data, nil
		case line == "", line == "data:", line == "event: message":
		case strings.HasPrefix(line, ":"), strings.HasPrefix(line, "id: "), strings.HasPrefix(line, "retry: "):
		default:
			return "", fmt.Errorf("unexpected line %q", line)
		}
	}
}

// onlyEvent returns the message of a whole stream that has one.
func onlyEvent(body string) string {
	s := &stream{lines: bufio.NewReader(strings.NewReader(body))}
	message, err := s.event()
	if _, more := s.event(); err != nil || more != io.EOF {
		return "not one event: " + body
	}
	return message
}

// next returns the next message of a stream that must have one.
func (s *stream) next() string {
	s.t.Helper()
	data, err := s.event()
	if err != nil {
		s.t.Fatalf("no next event: %v", err)
	}
	return data
}

// want fails the test unless the next messages are these.
func (s *stream) want(messages ...string) {
	s.t.Helper()
	for _, m := range messages {
		if got := s.next(); got != m {
			s.t.Fatalf("the stream brought %s\nwant %s", got, m)
		}
	}
}

// wantEnd fails the test unless the stream ends here.
func (s *stream) wantEnd() {
	s.t.Helper()
	if data, err := s.event(); err != io.EOF {
		s.t.Fatalf("the stream does not end, but %s %v", data, err)
	}
}
