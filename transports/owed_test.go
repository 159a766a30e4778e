package transports

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func frameOf(t *testing.T, text string) *mcp.Frame {
	t.Helper()
	f, fault := mcp.Decode([]byte(text))
	if fault != nil {
		t.Fatalf("%s: %v", text, fault)
	}
	return f
}

func idOf(text string) mcp.ID {
	id, _ := mcp.ParseID(mcp.Raw(text))
	return id
}

func settled(o *Owed) bool {
	select {
	case <-o.None():
		return true
	default:
		return false
	}
}

func TestOwed(t *testing.T) {
	request := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"x"}` }
	cancel := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
	}
	answer := func(id string) *mcp.Message { return (&mcp.Message{ID: idOf(id)}).Answer(mcp.NewObject()) }
	o := NewOwed()
	if !settled(o) || o.Add(nil) != nil || !settled(o) {
		t.Error("something is owed at the start")
	}
	added := o.Add(frameOf(t, "["+request("1")+","+request(`"1"`)+","+request("1.0")+`,{"id":9},`+cancel("7")+"]"))
	if len(added) != 2 || settled(o) {
		t.Errorf("added %q", added)
	}
	none := o.None()
	o.Paid(mcp.NewRequest("x", nil))
	o.Paid(answer("2"))
	o.Paid(answer("1"))
	if settled(o) {
		t.Error("another id counts as paid")
	}
	o.Add(frameOf(t, cancel(`"1"`)))
	if !settled(o) {
		t.Error("a cancelled request is owed")
	}
	select {
	case <-none:
	default:
		t.Error("who waited was not told")
	}
	added = o.Add(frameOf(t, request("3")))
	if settled(o) || len(o.Add(frameOf(t, request("3")))) != 0 {
		t.Error("a request is not owed once")
	}
	if o.Forget(added); !settled(o) {
		t.Error("a forgotten request is owed")
	}
	o.Forget(added)
	o.Add(frameOf(t, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`))
}

func TestExplain(t *testing.T) {
	failure := func(id mcp.ID) *mcp.Message { return mcp.Errorf(-1, "why").Failure(id) }
	const request, note = `{"jsonrpc":"2.0","id":"a","method":"x"}`, `{"jsonrpc":"2.0","method":"x"}`
	for name, c := range map[string]struct {
		reply Reply
		frame string
		want  string
	}{
		"taken":             {Reply{Status: 202}, request, ""},
		"its own id":        {Reply{Status: 400, Message: failure(mcp.IntID(7))}, request, `{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"why"}}`},
		"its own, no frame": {Reply{Status: 400, Message: failure(mcp.IntID(7))}, "", `{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"why"}}`},
		"no id":             {Reply{Status: 401, Message: failure(mcp.ID{})}, request, `{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"why"}}`},
		"no message":        {Reply{Status: 503}, request, `{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"the request was refused with HTTP status 503 Service Unavailable"}}`},
		"no id, no frame":   {Reply{Status: 400, Message: failure(mcp.ID{})}, "", ""},
		"a notification":    {Reply{Status: 400, Message: failure(mcp.ID{})}, note, ""},
		"a batch":           {Reply{Status: 400, Message: failure(mcp.ID{})}, "[" + request + "]", ""},
		"no message in it":  {Reply{Status: 400, Message: failure(mcp.ID{})}, "{}", ""},
	} {
		var f *mcp.Frame
		if c.frame != "" {
			f = frameOf(t, c.frame)
		}
		got, before := "", c.reply.Message
		if m := c.reply.Explain(f); m != nil {
			got = string(m.Bytes())
		}
		if got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if before != nil && name == "no id" && !before.ID.IsZero() {
			t.Errorf("%s: the reply itself was changed", name)
		}
	}
}
