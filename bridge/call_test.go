package bridge_test

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// call is one request under way at the scripted server.
type call struct {
	*received
	s         *server
	w         http.ResponseWriter
	r         *http.Request
	streaming bool
}

// reply answers the HTTP request.
func (c *call) reply(status int, media, body string) {
	if media != "" {
		c.w.Header().Set("Content-Type", media)
	}
	c.w.WriteHeader(status)
	_, _ = c.w.Write([]byte(body))
}

// stream begins an event stream.
func (c *call) stream() {
	if !c.streaming {
		c.streaming = true
		c.w.Header().Set("Content-Type", "text/event-stream")
		c.flush()
	}
}

func (c *call) flush() { _ = http.NewResponseController(c.w).Flush() }

// event sends a message on the call's own stream.
func (c *call) event(text string) error {
	c.stream()
	_, err := c.w.Write([]byte("event: message\ndata: " + text + "\n\n"))
	c.flush()
	return errors.Join(err, c.r.Context().Err())
}

// notify sends a notification on the call's own stream.
func (c *call) notify(method, params string) error {
	return c.event(`{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`)
}

// progress reports on the call under the token it came with.
func (c *call) progress(n int) error {
	token, _ := c.ProgressToken()
	return c.notify(mcp.Progress, `{"progressToken":`+token.String()+`,"progress":`+strconv.Itoa(n)+`}`)
}

// post sends a question on the call's stream and returns where its answer
// will arrive.
func (c *call) post(method, params string) (id string, answer <-chan *mcp.Message) {
	waiting := make(chan *mcp.Message, 1)
	c.s.set(func() {
		c.s.lastAsk++
		id = strconv.Quote("q-" + strconv.Itoa(c.s.lastAsk))
		c.s.asked[id] = waiting
	})
	_ = c.event(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	return id, waiting
}

// ask asks the client and returns its answer, the zero message when the call
// is given up.
func (c *call) ask(method, params string) *mcp.Message {
	_, answer := c.post(method, params)
	select {
	case m := <-answer:
		return m
	case <-c.r.Context().Done():
		return &mcp.Message{}
	}
}

// wait returns when the bridge gave the call up or until is closed.
func (c *call) wait(until <-chan struct{}) {
	select {
	case <-until:
	case <-c.r.Context().Done():
	}
}

// result answers the call.
func (c *call) result(text string) { c.answer(`,"result":` + text + `}`) }

// text answers a tool call by one text block.
func (c *call) text(s string) {
	c.result(`{"content":[{"type":"text","text":` + string(mcp.Quote(s)) + `}]}`)
}

// fail answers the call with an error.
func (c *call) fail(code int, message string) {
	c.answer(`,"error":{"code":` + strconv.Itoa(code) + `,"message":` + string(mcp.Quote(message)) + `}}`)
}

func (c *call) answer(tail string) {
	text := `{"jsonrpc":"2.0","id":` + c.ID.String() + tail
	if c.streaming {
		_ = c.event(text)
		return
	}
	c.reply(http.StatusOK, "application/json", text)
}

// standard answers what no test scripted: a tool echoes its arguments.
func (c *call) standard() {
	switch c.Method {
	case mcp.ToolsCall:
		arguments, _ := c.Body.Get("arguments")
		c.text(string(arguments))
	case mcp.ToolsList:
		c.result(`{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)
	case mcp.Ping, mcp.SetLevel, mcp.ResourcesSubscribe, mcp.ResourcesUnsubscribe:
		c.result(`{}`)
	default:
		c.fail(mcp.CodeMethodNotFound, "Method not found")
	}
}

// hold returns a handler that says when a call arrived and answers it once
// release is closed.
func hold(release <-chan struct{}) (handler func(*call), arrived chan struct{}) {
	arrived = make(chan struct{}, 1000)
	return func(c *call) {
		arrived <- struct{}{}
		c.wait(release)
		c.standard()
	}, arrived
}
