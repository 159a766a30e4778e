package mcp_test

import (
	"errors"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// taken is a message as a peer may write it, and what it means.
type taken struct {
	name, text string
	kind       mcp.Kind
	id, method string
	body       string // "" when absent
}

func takenCalls() []taken {
	return []taken{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, mcp.Request, `1`, "ping", ``},
		{"any order, spaces", " {\n\"params\" : { \"a\" : 1 } , \"method\":\"x\" ,\"id\" : \"a b\",\"jsonrpc\":\"2.0\"}\n", mcp.Request, `"a b"`, "x", `{ "a" : 1 }`},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, mcp.Notification, ``, "notifications/initialized", ``},
		{"id 0", `{"jsonrpc":"2.0","id":0,"method":"x"}`, mcp.Request, `0`, "x", ``},
		{"empty id", `{"jsonrpc":"2.0","id":"","method":"x"}`, mcp.Request, `""`, "x", ``},
		{"report 95: 2^53+1", `{"jsonrpc":"2.0","id":9007199254740993,"method":"x"}`, mcp.Request, `9007199254740993`, "x", ``},
		{"report 95: 1.0", `{"jsonrpc":"2.0","id":1.0,"method":"x"}`, mcp.Request, `1.0`, "x", ``},
		{"report 95: 1e3", `{"jsonrpc":"2.0","id":1e3,"method":"x"}`, mcp.Request, `1e3`, "x", ``},
		{"report 95: -7", `{"jsonrpc":"2.0","id":-7,"method":"x"}`, mcp.Request, `-7`, "x", ``},
		{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"x"}`, mcp.Request, `1`, "x", ``},
		{"params {}", `{"jsonrpc":"2.0","id":1,"method":"x","params":{}}`, mcp.Request, `1`, "x", `{}`},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"x","params":null}`, mcp.Request, `1`, "x", ``},
		{"report 182: params []", `{"jsonrpc":"2.0","id":1,"method":"tools\/list","params":[]}`, mcp.Request, `1`, "tools/list", ``},
		{"params [ ]", `{"jsonrpc":"2.0","method":"x","params":[` + "\n" + `]}`, mcp.Notification, ``, "x", ``},
		{"report 182: _meta []", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":[]}}`, mcp.Request, `1`, "x", `{"_meta":[]}`},
		{"escaped names", `{"json\u0072pc":"\u0032.0","\u0069d":7,"\u006dethod":"p\u0069ng","p\u0061rams":{}}`, mcp.Request, `7`, "ping", `{}`},
		{"other cases of names", `{"Method":"y","METHOD":"z","mEthod":"w","jsonrpc":"2.0","ID":9,"id":7,"method":"x","Params":{"a":1},"Error":{},"Result":{}}`, mcp.Request, `7`, "x", ``},
		{"extra members", `{"jsonrpc":"2.0","id":7,"method":"x","_meta":{"a":1},"foo":1,"foo":2,"sessionId":"s","params":{}}`, mcp.Request, `7`, "x", `{}`},
		{"unknown method, T54", `{"jsonrpc":"2.0","id":54,"method":"acme/query","params":{"type":"audio","title":"x","icons":[]}}`, mcp.Request, `54`, "acme/query", `{"type":"audio","title":"x","icons":[]}`},
		{"duplicates below", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"arguments":{"a":1,"a":2},"_meta":{"m":{"a":1,"a":2}}}}`, mcp.Request, `1`, "x", `{"arguments":{"a":1,"a":2},"_meta":{"m":{"a":1,"a":2}}}`},
		{"report 121", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"id":9223372036854775807,"n":9007199254740993,"f":1.10,"e":1e2,"z":-0,"big":123456789012345678901234567890}}}`,
			mcp.Request, `1`, "tools/call", `{"name":"t","arguments":{"id":9223372036854775807,"n":9007199254740993,"f":1.10,"e":1e2,"z":-0,"big":123456789012345678901234567890}}`},
		{"report 123", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"ts":1746600000000}}}`, mcp.Request, `1`, "tools/call", `{"arguments":{"ts":1746600000000}}`},
	}
}

func takenAnswers() []taken {
	return []taken{
		{"result", `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, mcp.Result, `1`, "", `{"a":1}`},
		{"empty result, T55", `{"jsonrpc":"2.0","id":55,"result":{}}`, mcp.Result, `55`, "", `{}`},
		{"result []", `{"jsonrpc":"2.0","id":"p","result":[ ]}`, mcp.Result, `"p"`, "", `{}`}, // PHP servers, matrix §11
		{"result null", `{"jsonrpc":"2.0","id":0,"result":null}`, mcp.Result, `0`, "", `{}`},
		{"pretty, T57", "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 57,\n  \"result\": {}\n}", mcp.Result, `57`, "", `{}`},
		{"report 121", `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"id":9007199254740993,"x":6e+19,"y":0.1000}}}`,
			mcp.Result, `1`, "", `{"content":[],"structuredContent":{"id":9007199254740993,"x":6e+19,"y":0.1000}}`},
		{"T56", `{"jsonrpc":"2.0","id":56,"result":{"content":[{"type":"text","text":"\ud800|\ud83d\ude00|\u0000|\u2028|<a&b>|\/"}]}}`,
			mcp.Result, `56`, "", `{"content":[{"type":"text","text":"\ud800|\ud83d\ude00|\u0000|\u2028|<a&b>|\/"}]}`},
		{"error", `{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no","data":[1.10]}}`, mcp.Failure, `2`, "", `{"code":-1,"message":"no","data":[1.10]}`},
		{"error without id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`, mcp.Failure, ``, "", `{"code":-32700,"message":"Parse error"}`},                 // T48
		{"error, id null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`, mcp.Failure, ``, "", `{"code":-32600,"message":"Invalid Request"}`}, // T49
		{"empty error", `{"jsonrpc":"2.0","id":1,"error":{}}`, mcp.Failure, `1`, "", `{}`},
		{"extra members", `{"jsonrpc":"2.0","id":1,"result":{},"meta":1,"params":{}}`, mcp.Result, `1`, "", `{}`},
		{"duplicates in a result", `{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}`, mcp.Result, `1`, "", `{"a":1,"a":2}`},
	}
}

func TestDecodeMessages(t *testing.T) {
	for _, tc := range append(takenCalls(), takenAnswers()...) {
		t.Run(tc.name, func(t *testing.T) {
			frame, fault := mcp.Decode([]byte(tc.text))
			if fault != nil || frame.Batch || len(frame.Items) != 1 || frame.Items[0].Message == nil {
				t.Fatalf("%+v, %v", frame, fault)
			}
			m := frame.Items[0].Message
			if m.Kind != tc.kind || m.ID.String() != tc.id || m.Method != tc.method {
				t.Errorf("%s", m)
			}
			if (m.Body != nil) != (tc.body != "") || m.Body != nil && string(m.Body.Raw()) != tc.body {
				t.Errorf("the body is %s; want %s", m.Body.Raw(), tc.body)
			}
			if frame.Items[0].Fault != nil || m.Header != nil || m.Call != 0 || m.Within != 0 {
				t.Errorf("%+v", m)
			}
		})
	}
}

func TestDecodeBatches(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string // messages as they are written again; "!" and the id for a fault
	}{
		"empty, T64": {`[]`, nil},
		"spaces":     {" [ \n ] ", nil},
		"one, T60":   {`[{"jsonrpc":"2.0","id":60,"method":"ping"}]`, []string{`{"jsonrpc":"2.0","id":60,"method":"ping"}`}},
		"report 27": {`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}},{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}]`,
			[]string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`}},
		"report 30, from a server": {`[{"jsonrpc":"2.0","id":11,"result":{}},{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}]`,
			[]string{`{"jsonrpc":"2.0","id":11,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`}},
		"T66": {`[{"jsonrpc":"2.0","id":101,"result":{"roots":[]}},{"jsonrpc":"2.0","id":"s-2","error":{"code":-1,"message":"User rejected sampling request"}}]`,
			[]string{`{"jsonrpc":"2.0","id":101,"result":{"roots":[]}}`, `{"jsonrpc":"2.0","id":"s-2","error":{"code":-1,"message":"User rejected sampling request"}}`}},
		"faults between": {`[ 1,{"jsonrpc":"2.0","id":1,"method":"x"},[],[{"jsonrpc":"2.0","id":2,"method":"x"}],null,{},{"id":"b"} ,"x",{"jsonrpc":"2.0","id":null,"method":"x"}]`,
			[]string{`!`, `{"jsonrpc":"2.0","id":1,"method":"x"}`, `!`, `!`, `!`, `!`, `!"b"`, `!`, `!`}},
		"byte order mark": {"\ufeff[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]", []string{`{"jsonrpc":"2.0","method":"x"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			frame, fault := mcp.Decode([]byte(tc.text))
			if fault != nil || !frame.Batch || len(frame.Items) != len(tc.want) {
				t.Fatalf("%+v, %v", frame, fault)
			}
			for i, item := range frame.Items {
				if got := written(t, item); got != tc.want[i] {
					t.Errorf("element %d: %s; want %s", i, got, tc.want[i])
				}
			}
		})
	}
}

func written(t *testing.T, item mcp.Item) string {
	t.Helper()
	switch {
	case item.Message != nil && item.Fault == nil:
		return string(item.Message.Bytes())
	case item.Message == nil && item.Fault != nil && item.Fault.Code == mcp.CodeInvalidRequest:
		return "!" + item.Fault.ID.String()
	}
	t.Fatalf("%+v", item)
	return ""
}

func TestDecodeMessage(t *testing.T) {
	if m := decode(t, `{"jsonrpc":"2.0","id":1,"method":"x"}`); m.Method != "x" {
		t.Errorf("%s", m)
	}
	for text, code := range map[string]int{
		``: mcp.CodeParse, `{`: mcp.CodeParse, `1`: mcp.CodeInvalidRequest, `{}`: mcp.CodeInvalidRequest,
		`[]`: mcp.CodeInvalidRequest, `[{"jsonrpc":"2.0","id":1,"method":"x"}]`: mcp.CodeInvalidRequest,
	} {
		m, err := mcp.DecodeMessage([]byte(text))
		var e *mcp.Error
		if !errors.As(err, &e) || e.Code != code || m != nil {
			t.Errorf("%q: %v, %v", text, m, err)
		}
	}
}
