package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// demoTalk is one conversation of the demo's client, as the client saw it.
type demoTalk struct {
	hello   *demoReply
	batch   *demoReply
	answers map[string]*mcp.Message // by tool; the list of tools by its method
	// again answers the call that gives what a question wanted to know.
	again   *mcp.Message
	asked   []*mcp.Message
	notices []*mcp.Message
}

// demoToken is the progress token of the client's, which must come back.
const demoToken = `"week-31"`

// converse holds the whole conversation with the server at endpoint. A client
// whose batch is refused sends its messages one by one.
func converse(ctx context.Context, endpoint string) (*demoTalk, error) {
	c, t := newDemoClient(endpoint), &demoTalk{answers: map[string]*mcp.Message{}}
	if err := t.open(ctx, c); err != nil {
		return nil, err
	}
	names, batch := demoRequests(c)
	var err error
	if t.batch, err = c.post(ctx, batch...); err != nil {
		return nil, err
	}
	for i, name := range names {
		reply := t.batch
		if t.batch.status != http.StatusOK {
			if reply, err = c.post(ctx, batch[i]); err != nil {
				return nil, err
			}
			t.hear(reply)
		}
		t.answers[name] = reply.answerTo(batch[i])
	}
	t.hear(t.batch)
	again := c.tool(demoBookTable, `{"evening":"Friday","guests":4,"seating":"terrace"}`)
	reply, err := c.post(ctx, again)
	if err != nil {
		return nil, err
	}
	t.again = reply.answerTo(again)
	return t, c.leave(ctx)
}

// open performs the handshake.
func (t *demoTalk) open(ctx context.Context, c *demoClient) (err error) {
	hello := c.request(mcp.Initialize, mcp.MustObject(`{"protocolVersion":"`+demoClientVersion+
		`","capabilities":{},"clientInfo":{"name":"demo-client","version":"1.0.0"}}`))
	if t.hello, err = c.post(ctx, hello); err != nil {
		return err
	}
	if len(t.hello.answers) != 1 || t.hello.answers[0].Kind != mcp.Result {
		return fmt.Errorf("demo: asking %s: no session was opened (HTTP status %d)", c.endpoint, t.hello.status)
	}
	_, err = c.post(ctx, mcp.NewNotification(mcp.Initialized, nil))
	return err
}

// demoRequests are the four requests that the client has, and their names.
func demoRequests(c *demoClient) ([]string, []*mcp.Message) {
	report := c.tool(demoReport, `{"week":31}`)
	report.Body.Set("_meta", mcp.Raw(`{"progressToken":`+demoToken+`}`))
	return []string{demoInventory, demoBookTable, demoReport, mcp.ToolsList}, []*mcp.Message{
		c.tool(demoInventory, `{"item":"rice"}`),
		c.tool(demoBookTable, `{"evening":"Friday"}`),
		report,
		c.request(mcp.ToolsList, nil),
	}
}

func (c *demoClient) tool(name, arguments string) *mcp.Message {
	params := mcp.NewObject()
	params.Set("name", mcp.Quote(name))
	params.Set("arguments", mcp.Raw(arguments))
	return c.request(mcp.ToolsCall, params)
}

func (t *demoTalk) hear(r *demoReply) {
	t.asked, t.notices = append(t.asked, r.asked...), append(t.notices, r.notices...)
}

// answerTo returns the only answer to a request; nil when there is none, or
// more than one.
func (r *demoReply) answerTo(request *mcp.Message) *mcp.Message {
	var found *mcp.Message
	for _, a := range r.answers {
		if !a.ID.Equal(request.ID) {
			continue
		}
		if found != nil {
			return nil
		}
		found = a
	}
	return found
}

// result returns the body of the result with that name; nil when it is none.
func (t *demoTalk) result(name string) *mcp.Object { return resultOf(t.answers[name]) }

func resultOf(m *mcp.Message) *mcp.Object {
	if m == nil || m.Kind != mcp.Result {
		return nil
	}
	return m.Body
}
