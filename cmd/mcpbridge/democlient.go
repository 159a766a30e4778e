package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
)

// demoClientVersion is what the demo's client speaks, and all that it speaks.
const demoClientVersion = "2025-03-26"

// demoClient is an MCP client over Streamable HTTP as its version defines it:
// it sends batches, names no version in headers, and refuses what a server
// asks of it, since it declared nothing.
type demoClient struct {
	endpoint string
	http     *http.Client
	session  string
	lastID   int64
}

// demoReply is all that one POST brought.
type demoReply struct {
	status   int
	media    string
	answers  []*mcp.Message
	asked    []*mcp.Message // what the server wanted of the client meanwhile
	notices  []*mcp.Message
	problems []error // what is no JSON-RPC
}

// newDemoClient returns a client with connections of its own.
func newDemoClient(endpoint string) *demoClient {
	return &demoClient{endpoint: endpoint, http: &http.Client{Transport: &http.Transport{}}}
}

// request makes a request with the next id.
func (c *demoClient) request(method string, params *mcp.Object) *mcp.Message {
	c.lastID++
	m := mcp.NewRequest(method, params)
	m.ID = mcp.IntID(c.lastID)
	return m
}

// post sends one message, or several as a batch, and reads all that comes.
func (c *demoClient) post(ctx context.Context, messages ...*mcp.Message) (*demoReply, error) {
	resp, err := c.send(ctx, http.MethodPost, demoBody(messages))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if id := resp.Header.Get(mcp.HeaderSession); id != "" {
		c.session = id
	}
	reply := &demoReply{status: resp.StatusCode}
	reply.media, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if reply.media == "text/event-stream" {
		return reply, c.readEvents(ctx, resp.Body, reply)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDemoBody))
	if err != nil || len(body) == 0 {
		return reply, err
	}
	return reply, c.take(ctx, body, reply)
}

func demoBody(messages []*mcp.Message) []byte {
	if len(messages) == 1 {
		return messages[0].Bytes()
	}
	batch := mcp.NewArray()
	for _, m := range messages {
		batch.Add(m.Bytes())
	}
	return batch.Raw()
}

func (c *demoClient) send(ctx context.Context, method string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("demo: asking %s: %w", c.endpoint, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		req.Header.Set(mcp.HeaderSession, c.session)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("demo: asking %s: %w", c.endpoint, err)
	}
	return resp, nil
}

func (c *demoClient) readEvents(ctx context.Context, body io.Reader, reply *demoReply) error {
	for events := eventstream.NewReader(body, maxDemoBody); ; {
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("demo: reading from %s: %w", c.endpoint, err)
		case !e.IsMessage():
			continue
		}
		if err := c.take(ctx, e.Data, reply); err != nil {
			return err
		}
	}
}

// take sorts what came, and refuses at once what the server asks: it waits.
func (c *demoClient) take(ctx context.Context, text []byte, reply *demoReply) error {
	frame, fault := mcp.Decode(text)
	if fault != nil {
		reply.problems = append(reply.problems, &fault.Error)
		return nil
	}
	for _, item := range frame.Items {
		switch m := item.Message; {
		case m == nil:
			reply.problems = append(reply.problems, &item.Fault.Error)
		case m.IsAnswer():
			reply.answers = append(reply.answers, m)
		case m.Kind == mcp.Notification:
			reply.notices = append(reply.notices, m)
		default:
			reply.asked = append(reply.asked, m)
			if _, err := c.post(ctx, m.Refuse(mcp.Errorf(mcp.CodeMethodNotFound, "Method not found"))); err != nil {
				return err
			}
		}
	}
	return nil
}

// leave ends the session and lets go of the connections, so that nobody waits
// for them.
func (c *demoClient) leave(ctx context.Context) error {
	defer c.http.CloseIdleConnections()
	resp, err := c.send(ctx, http.MethodDelete, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
