package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// refused is a message that cannot be taken, and the id that its answer names.
type refused struct{ name, text, id string }

func refusedEnvelopes() []refused {
	return []refused{
		{"number", `1`, ``}, {"string", `"ping"`, ``}, {"report 58: null", `null`, ``}, {"bool", `true`, ``},
		{"empty", `{}`, ``}, {"only an id", `{"jsonrpc":"2.0","id":5}`, `5`},
		{"no jsonrpc", `{"id":"a","method":"x"}`, `"a"`},
		{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":1,"method":"x"}`, `1`}, {"jsonrpc number", `{"jsonrpc":2.0,"id":1,"method":"x"}`, `1`},
		{"jsonrpc null", `{"jsonrpc":null,"id":1,"method":"x"}`, `1`}, {"jsonrpc 2.00", `{"jsonrpc":"2.00","id":0,"method":"x"}`, `0`},
		{"JSONRPC", `{"JSONRPC":"2.0","id":1,"method":"x"}`, `1`},
		{"Method alone", `{"jsonrpc":"2.0","id":1,"Method":"tools/call"}`, `1`},
		{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, `1`}, {"method number", `{"jsonrpc":"2.0","id":"","method":1}`, `""`},
		{"method object", `{"jsonrpc":"2.0","id":1.0,"method":{}}`, `1.0`}, {"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, `1`},
		{"T50, report 97: id null", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"rm","arguments":{}}}`, ``},
		{"report 97: id {}", `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, ``},
		{"report 97: id [1]", `{"jsonrpc":"2.0","id":[1],"method":"tools/list"}`, ``},
		{"report 97: id true", `{"jsonrpc":"2.0","id":true,"method":"tools/list"}`, ``},
		{"report 97: id 1.5", `{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`, ``},
		{"report 95: id 2.5", `{"jsonrpc":"2.0","id":2.5,"method":"x"}`, ``},
		{"long id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1023) + `","method":"x"}`, ``},
		{"hostile id", `{"jsonrpc":"2.0","id":1e999999999,"method":"x"}`, ``},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"x","result":{}}`, `1`},
		{"method and error", `{"jsonrpc":"2.0","id":1,"method":"x","error":{}}`, `1`},
		{"params string", `{"jsonrpc":"2.0","id":1,"method":"x","params":"a"}`, `1`}, {"params number", `{"jsonrpc":"2.0","id":1,"method":"x","params":0}`, `1`},
		{"params bool", `{"jsonrpc":"2.0","id":1,"method":"x","params":false}`, `1`}, {"params [1]", `{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}`, `1`},
		{"params [[]]", `{"jsonrpc":"2.0","id":1,"method":"x","params":[[]]}`, `1`}, {"params of a notification", `{"jsonrpc":"2.0","method":"x","params":[{}]}`, ``},
	}
}

// The id of a response is not one of its sender's requests, so no answer to
// it may name that id (basic/transports "Sending Messages": no id).
func refusedAnswers() []refused {
	return []refused{
		{"result string", `{"jsonrpc":"2.0","id":1,"result":"ok"}`, ``}, {"result number", `{"jsonrpc":"2.0","id":1,"result":0}`, ``},
		{"result true", `{"jsonrpc":"2.0","id":1,"result":true}`, ``}, {"result [1]", `{"jsonrpc":"2.0","id":1,"result":[1]}`, ``},
		{"error null", `{"jsonrpc":"2.0","id":1,"error":null}`, ``}, {"error string", `{"jsonrpc":"2.0","id":1,"error":"no"}`, ``}, {"error []", `{"jsonrpc":"2.0","id":1,"error":[]}`, ``},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, ``},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, ``}, {"result id null", `{"jsonrpc":"2.0","id":null,"result":{}}`, ``},
		{"result id 1.5", `{"jsonrpc":"2.0","id":1.5,"result":{}}`, ``}, {"error id 1.5", `{"jsonrpc":"2.0","id":1.5,"error":{}}`, ``},
		{"error id true", `{"jsonrpc":"2.0","id":true,"error":{}}`, ``}, {"error id {}", `{"jsonrpc":"2.0","id":{},"error":{}}`, ``},
		{"result without jsonrpc", `{"id":1,"result":{}}`, ``}, {"result twice", `{"jsonrpc":"2.0","id":1,"result":{},"result":{}}`, ``},
		{"error twice", `{"jsonrpc":"2.0","id":1,"error":{},"error":{}}`, ``},
	}
}

func refusedDuplicates() []refused {
	many := strings.Builder{}
	for i := range 40 {
		fmt.Fprintf(&many, `"k%d":0,`, i)
	}
	return []refused{
		{"T58", `{"jsonrpc":"2.0","id":58,"method":"ping","method":"tools/call","params":{"name":"rm"}}`, `58`},
		{"same method", `{"jsonrpc":"2.0","id":1,"method":"x","method":"x"}`, `1`},
		{"escaped method", `{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/call"}`, `1`},
		{"jsonrpc", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"x"}`, `1`},
		{"params", `{"jsonrpc":"2.0","id":"a","method":"x","params":{},"params":{"a":1}}`, `"a"`},
		{"id", `{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}`, ``},
		{"same id", `{"jsonrpc":"2.0","id":1,"id":1,"method":"x"}`, ``},
		{"escaped id", `{"jsonrpc":"2.0","id":1,"method":"x","\u0069d":2}`, ``},
		{"id null second", `{"jsonrpc":"2.0","id":1,"method":"x","id":null}`, ``},
		{"id, then method", `{"jsonrpc":"2.0","id":1,"id":2,"method":"x","method":"y"}`, ``},
		{"method, then id", `{"jsonrpc":"2.0","method":"x","method":"y","id":1,"id":2}`, ``},
		{"in params", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","arguments":{},"name":"rm"}}`, `1`},
		{"in params, escaped", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","n\u0061me":"rm"}}`, `1`},
		{"in params, many", `{"jsonrpc":"2.0","id":1,"method":"x","params":{` + many.String() + `"k9":1}}`, `1`},
		{"in _meta", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":1,"progressToken":2}}}`, `1`},
		{"in _meta, escaped", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":1,"progress\u0054oken":2}}}`, `1`},
		{"in params of a notification", `{"jsonrpc":"2.0","method":"x","params":{"a":1,"a":1}}`, ``},
	}
}

func TestDecodeRefusesMessages(t *testing.T) {
	all := append(append(refusedEnvelopes(), refusedAnswers()...), refusedDuplicates()...)
	for _, tc := range all {
		t.Run(tc.name, func(t *testing.T) {
			frame, fault := mcp.Decode([]byte(tc.text))
			if fault != nil || frame.Batch || len(frame.Items) != 1 {
				t.Fatalf("%+v, %v", frame, fault)
			}
			item := frame.Items[0]
			if item.Message != nil || item.Fault == nil {
				t.Fatalf("it is taken as %s", item.Message)
			}
			if item.Fault.Code != mcp.CodeInvalidRequest || item.Fault.ID.String() != tc.id || item.Fault.Message == "" {
				t.Errorf("%+v; want id %s", item.Fault, tc.id)
			}
		})
	}
}

// Report 96: an id before the damage names the request; a wrong one would
// answer another.
func unreadable() []refused {
	return []refused{
		{"empty", ``, ``}, {"spaces", " \n", ``}, {"byte order mark", "\ufeff", ``}, {"text", `hello`, ``}, {"two marks", "\ufeff\ufeff{}", ``},
		{"report 96", `{"jsonrpc":"2.0","id":7,"method":`, `7`},
		{"id 0", `{"jsonrpc":"2.0","id":0,"method":"x"`, `0`}, {"id empty", `{"id":"","method":`, `""`}, {"id string", `{ "id" : "a b" , "method" :`, `"a b"`},
		{"id 1.0", `{"id":1.0,"x"`, `1.0`}, {"escaped name", `{"\u0069d":7,`, `7`}, {"behind a mark", "\ufeff{\"id\":7,", `7`},
		{"after large params", `{"params":{"a":[1,{"id":3},"}"]},"id":7,"method":tru}`, `7`},
		{"trailing text", `{"jsonrpc":"2.0","id":7,"method":"x"} x`, `7`}, {"trailing comma", `{"id":7,"method":"x",}`, `7`},
		{"no UTF-8 after", "{\"id\":7,\"method\":\"\xff\"}", `7`}, {"no UTF-8 before", "{\"method\":\"\xff\",\"id\":7}", `7`},
		{"too deep", `{"id":7,"params":{"a":` + nested(deepest, "[", "", "]") + `}}`, `7`},
		{"cut behind a string", `{"id":"a"`, `"a"`}, {"cut behind a space", `{"id":12 `, `12`},
		{"cut in a number", `{"jsonrpc":"2.0","method":"x","id":12`, ``}, {"cut in a string", `{"id":"a`, ``}, {"cut before it", `{"id":`, ``}, {"a number and more", `{"id":12x,"method":"x"}`, ``},
		{"id null", `{"id":null,"method":`, ``}, {"id 1.5", `{"id":1.5,"method":`, ``}, {"id {}", `{"id":{},"method":`, ``}, {"no UTF-8 in it", "{\"id\":\"\xff\",\"method\":\"x\"}", ``},
		{"after the damage", `{"method":x,"id":7}`, ``}, {"no colon", `{"id" 7,"method":"x"}`, ``}, {"other case", `{"ID":7,"method":`, ``}, {"a nested id", `{"params":{"id":7},`, ``},
		{"in an array", `[{"id":7,"method":`, ``}, {"no name", `{7:"id"`, ``}, {"bad name", `{"\x":1,"id":7}`, ``},
		{"id twice", `{"id":7,"id":8,"method":`, ``}, {"a result", `{"jsonrpc":"2.0","id":7,"result":{"content":[`, ``}, {"an error", `{"error":{},"id":7,`, ``},
	}
}

func TestDecodeSalvagesTheID(t *testing.T) {
	for _, tc := range unreadable() {
		t.Run(tc.name, func(t *testing.T) {
			frame, fault := mcp.Decode([]byte(tc.text))
			limit := ""
			if tc.name == "too deep" {
				limit = mcp.LimitDepth
			}
			if frame != nil || fault == nil || fault.Code != mcp.CodeParse || fault.Message == "" || fault.Limit != limit {
				t.Fatalf("%+v, %v", frame, fault)
			}
			if got := fault.ID.String(); got != tc.id {
				t.Errorf("id %s; want %s", got, tc.id)
			}
			if answer := string(fault.Failure(fault.ID).Bytes()); strings.Contains(answer, `"id":null`) || tc.id == "" && strings.Contains(answer, `"id"`) {
				t.Errorf("%s", answer)
			}
		})
	}
}

// A body of many small elements must not grow to a multiple of itself.
func TestDecodeBoundsBatches(t *testing.T) {
	batch := func(n int) []byte { return []byte("[" + strings.Repeat("1,", n-1) + "1]") }
	frame, fault := mcp.Decode(batch(10000))
	if fault != nil || len(frame.Items) != 10000 {
		t.Fatalf("%v", fault)
	}
	frame, fault = mcp.Decode(batch(1 << 20))
	if frame != nil || fault == nil || fault.Code != mcp.CodeInvalidRequest || !fault.ID.IsZero() {
		t.Fatalf("%d elements, %v", len(frame.Items), fault)
	}
	many := batch(1 << 20)
	if n := testing.AllocsPerRun(1, func() { mcp.Decode(many) }); n > 100000 {
		t.Errorf("%v allocations", n)
	}
}

// Members are looked at where they are, whatever their size and spacing.
func TestDecodeCopiesNoBody(t *testing.T) {
	tight := []byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[1,2,3]}}`)
	spaced := []byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[1, 2, 3]}}`)
	count := func(b []byte) float64 { return testing.AllocsPerRun(100, func() { mcp.Decode(b) }) }
	if a, b := count(tight), count(spaced); a != b {
		t.Errorf("%v allocations for a compact body, %v for a spaced one", a, b)
	}
}
