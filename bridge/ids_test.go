package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// An id comes back in the token that the client wrote; the server sees small
// integers (report 95, T52).
func TestReport95IDsAreEchoed(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	for _, id := range []string{`0`, `1`, `"1"`, `""`, `"a b"`, `-7`, `9007199254740993`, `1.0`, `1e3`, `-0`, `"\u0031"`, strings.Repeat("9", 1000)} {
		t.Run(id, func(t *testing.T) {
			if got := c.post(toolCall(id, "t", `5`)); got.status != http.StatusOK || got.body != echoed(id, `5`) {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
}

// hosted posts a call and delivers its whole answer.
func hosted(c *client, body string) <-chan reply {
	done := make(chan reply, 1)
	go func() {
		r, err := c.try(http.MethodPost, body)
		if err != nil {
			c.t.Errorf("%.200s: %v", body, err)
		}
		done <- r
	}()
	return done
}

// Hosted clients give every request the id 1 (report 92).
func TestReport92SameIDInOneSession(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	handler, arrived := hold(release)
	r.up.handle("tools/call slow", handler)
	c := r.open(v4, `{}`)
	slow := hosted(c, toolCall(`1`, "slow", `"A"`))
	<-arrived
	if fast := c.post(toolCall(`1`, "fast", `"B"`)); fast.body != echoed(`1`, `"B"`) {
		t.Errorf("the fast call got %s", fast.body)
	}
	close(release)
	if got := <-slow; got.body != echoed(`1`, `"A"`) {
		t.Errorf("the slow call got %s", got.body)
	}
}

// 1 and "1" are two ids, also while both are under way (T51).
func TestT51NumberAndStringInFlight(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	handler, arrived := hold(release)
	r.up.handle(mcp.ToolsCall, handler)
	c := r.open(v2, `{}`)
	number, text := hosted(c, toolCall(`1`, "t", `1`)), hosted(c, toolCall(`"1"`, "t", `2`))
	<-arrived
	<-arrived
	close(release)
	if a, b := <-number, <-text; a.body != echoed(`1`, `1`) || b.body != echoed(`"1"`, `2`) {
		t.Errorf("%s %s", a.body, b.body)
	}
}

// Two clients of one server both count from 1, and are answered in the
// opposite order (report 93).
func TestReport93SameIDInTwoSessions(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	handler, arrived := hold(release)
	r.up.handle("tools/call first", handler)
	a, b := r.open(v4, `{}`), r.open(v3, `{}`)
	first := hosted(a, toolCall(`1`, "first", `"A"`))
	<-arrived
	if got := b.post(toolCall(`1`, "second", `"B"`)); got.body != echoed(`1`, `"B"`) {
		t.Errorf("the second client got %s", got.body)
	}
	close(release)
	if got := <-first; got.body != echoed(`1`, `"A"`) {
		t.Errorf("the first client got %s", got.body)
	}
}

// Numbers and strings cross as they were written (reports 121 and 123, T56).
func TestReport121TokensCrossUntouched(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	for _, arguments := range []string{
		`{"id":9223372036854775807,"n":9007199254740993,"f":1.10,"e":1e2,"z":-0,"big":123456789012345678901234567890}`,
		`{"ts":1746600000000}`,
		`{"s":"\ud800|\ud83d\ude00|\u0000|\u2028|<a&b>|\/"}`,
		`{ "spaced" : [ 1 ,2 ] , "b":{}, "a" : null }`,
	} {
		got := c.post(request(`7`, mcp.ToolsCall, `{"name":"t","arguments":`+arguments+`}`))
		if want := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":` + string(mcp.Quote(arguments)) + `}]}}`; got.body != want {
			t.Errorf("the client got %s", got.body)
		}
		all := r.up.all(mcp.ToolsCall)
		if up := all[len(all)-1]; !strings.HasSuffix(up.body, `"params":{"name":"t","arguments":`+arguments+`}}`) {
			t.Errorf("the server got %s", up.body)
		}
	}
}

// The same in the other direction, also in the text that the bridge adds.
func TestReport121ResultsCrossUntouched(t *testing.T) {
	r := newRig(t, nil)
	const structured = `{"id":9007199254740993,"x":6e+19,"y":0.1000}`
	r.up.handle(mcp.ToolsCall, func(c *call) { c.result(`{"content":[],"structuredContent":` + structured + `}`) })
	for _, v := range []string{v1, v2, v3, v4} {
		got := r.open(v, `{}`).post(toolCall(`1`, "t", `1`))
		want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":` + string(mcp.Quote(structured)) +
			`}],"structuredContent":` + structured + `}}`
		if got.body != want {
			t.Errorf("%s: %s", v, got.body)
		}
	}
}

// Bodies of any size below the limit cross byte for byte (report 66).
func TestReport66LargeBodies(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	for _, size := range []int{99 << 10, 105 << 10, 1 << 20, 16 << 20} {
		v := `"` + strings.Repeat("x", size) + `"`
		if got := c.post(toolCall(`1`, "t", v)); got.status != http.StatusOK || got.body != echoed(`1`, v) {
			t.Errorf("%d bytes: %d, %d bytes", size, got.status, len(got.body))
		}
	}
}
