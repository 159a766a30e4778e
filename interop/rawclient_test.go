package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"
	"time"
)

// rawLimit bounds every exchange of a raw client: what takes longer hangs.
const rawLimit = 10 * time.Second

const acceptBoth = "application/json, text/event-stream"

// rawClient speaks Streamable HTTP with nothing between the test and the bytes.
type rawClient struct {
	t       *testing.T
	url     string
	session string
	version string // sent as header once it is set
}

// rawReply is one HTTP response, with the JSON-RPC messages that it carried.
type rawReply struct {
	status   int
	header   http.Header
	body     []byte
	array    bool // the body was a JSON array
	messages []rawMessage
}

// rawMessage keeps the members as the peer wrote them.
type rawMessage struct {
	ID     json.RawMessage
	Method string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
	Params json.RawMessage
}

// toolResult is what the tests read of a tool's result.
type toolResult struct {
	Content []struct{ Type, Text string }
	IsError bool
}

func (c *rawClient) post(body string) rawReply {
	c.t.Helper()
	return c.send(http.MethodPost, body, "Accept", acceptBoth)
}

// send adds the headers of the session; those given after it win, and an empty
// value takes one away.
func (c *rawClient) send(method, body string, headers ...string) rawReply {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), rawLimit)
	defer cancel()
	response, err := c.open(ctx, method, body, headers...)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, body, err)
	}
	defer response.Body.Close()
	reply := rawReply{status: response.StatusCode, header: response.Header}
	if reply.body, err = io.ReadAll(response.Body); err != nil {
		c.t.Fatalf("%s %s: reading the answer: %v, after %q", method, body, err, reply.body)
	}
	if err := reply.parse(); err != nil {
		c.t.Fatalf("%s %s: %v in %q", method, body, err, reply.body)
	}
	return reply
}

func (c *rawClient) open(ctx context.Context, method, body string, headers ...string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	all := append([]string{
		"Content-Type", "application/json", "Mcp-Session-Id", c.session, "Mcp-Protocol-Version", c.version,
	}, headers...)
	for i := 0; i < len(all); i += 2 {
		request.Header.Set(all[i], all[i+1])
		if all[i+1] == "" {
			request.Header.Del(all[i])
		}
	}
	return http.DefaultClient.Do(request)
}

func (r *rawReply) parse() error {
	media, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	switch {
	case media == "text/event-stream":
		return eachEvent(bytes.NewReader(r.body), func(_, data string) error { return r.add(data) })
	case media != "application/json" || len(r.body) == 0:
		return nil
	case bytes.HasPrefix(bytes.TrimSpace(r.body), []byte("[")):
		r.array = true
		var elements []json.RawMessage
		if err := json.Unmarshal(r.body, &elements); err != nil {
			return err
		}
		for _, e := range elements {
			if err := r.add(string(e)); err != nil {
				return err
			}
		}
		return nil
	}
	return r.add(string(r.body))
}

func (r *rawReply) add(data string) error {
	if data == "" {
		return nil // an event that only primes the stream
	}
	var m rawMessage
	if err := json.Unmarshal([]byte(data), &m); err != nil {
		return err
	}
	r.messages = append(r.messages, m)
	return nil
}

// answer returns the answer to the request whose id was written so.
func (r *rawReply) answer(id string) (rawMessage, error) {
	var found []rawMessage
	for _, m := range r.messages {
		if m.Method == "" && string(m.ID) == id {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		return rawMessage{}, fmt.Errorf("%d answers to %s in status %d, body %q", len(found), id, r.status, r.body)
	}
	return found[0], nil
}

// tool reads the answer as a tool's result.
func (m rawMessage) tool() (toolResult, error) {
	var result toolResult
	if m.Error != nil {
		return result, fmt.Errorf("error %d instead of a result: %s", m.Error.Code, m.Error.Message)
	}
	return result, json.Unmarshal(m.Result, &result)
}

func (r toolResult) text() string {
	var texts []string
	for _, block := range r.Content {
		if block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// eachEvent reads an event stream to its end.
func eachEvent(stream io.Reader, each func(name, data string) error) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 1<<20)
	name, data := "", []string(nil)
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			if data != nil {
				if err := each(name, strings.Join(data, "\n")); err != nil {
					return err
				}
			}
			name, data = "", nil
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		}
	}
	return lines.Err()
}

// initialize is the request that opens a session without any capability.
func initialize(id, version, name string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},`+
		`"clientInfo":{"name":%q,"version":"1"}}}`, id, version, name)
}

func call(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

const (
	initializedMethod = "notifications/initialized"
	initialized       = `{"jsonrpc":"2.0","method":"` + initializedMethod + `"}`
)
