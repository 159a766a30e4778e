package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func TestAppend(t *testing.T) {
	fail := mcp.Errorf(mcp.CodeInvalidRequest, "a %q", "b")
	for name, tc := range map[string]struct {
		m    *mcp.Message
		want string
	}{
		"request":                {&mcp.Message{Kind: mcp.Request, ID: mcp.IntID(7), Method: "x", Body: mcp.MustObject(`{ "a": 1.10 }`)}, `{"jsonrpc":"2.0","id":7,"method":"x","params":{ "a": 1.10 }}`},
		"id 0":                   {&mcp.Message{Kind: mcp.Request, ID: mcp.IntID(0), Method: "x"}, `{"jsonrpc":"2.0","id":0,"method":"x"}`}, // report 96
		"id empty":               {&mcp.Message{Kind: mcp.Request, ID: mcp.TextID(""), Method: "x"}, `{"jsonrpc":"2.0","id":"","method":"x"}`},
		"id as written":          {&mcp.Message{Kind: mcp.Request, ID: parseID(t, `1.0e0`), Method: "x"}, `{"jsonrpc":"2.0","id":1.0e0,"method":"x"}`},
		"empty params":           {&mcp.Message{Kind: mcp.Request, ID: mcp.IntID(1), Method: "x", Body: mcp.NewObject()}, `{"jsonrpc":"2.0","id":1,"method":"x","params":{}}`},
		"odd method":             {&mcp.Message{Kind: mcp.Request, ID: mcp.IntID(1), Method: "a/<\"\n\u2028"}, `{"jsonrpc":"2.0","id":1,"method":"a/<\"\n\u2028"}`},
		"notification":           {mcp.NewNotification("x", nil), `{"jsonrpc":"2.0","method":"x"}`},
		"notification, params":   {mcp.NewNotification("x", mcp.MustObject(`{"a":1}`)), `{"jsonrpc":"2.0","method":"x","params":{"a":1}}`},
		"request without id":     {mcp.NewRequest("x", mcp.MustObject(`{"a":1}`)), `{"jsonrpc":"2.0","method":"x","params":{"a":1}}`},
		"result":                 {&mcp.Message{Kind: mcp.Result, ID: mcp.IntID(0), Method: "not written", Body: mcp.MustObject(`{"a":1}`)}, `{"jsonrpc":"2.0","id":0,"result":{"a":1}}`},
		"result without body":    {&mcp.Message{Kind: mcp.Result, ID: mcp.TextID("")}, `{"jsonrpc":"2.0","id":"","result":{}}`},
		"failure":                {fail.Failure(mcp.TextID("a")), `{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"a \"b\""}}`},
		"failure without id":     {fail.Failure(mcp.ID{}), `{"jsonrpc":"2.0","error":{"code":-32600,"message":"a \"b\""}}`}, // T48, T49, decision 7
		"failure, id 0":          {fail.Failure(mcp.IntID(0)), `{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"a \"b\""}}`},
		"failure without a body": {&mcp.Message{Kind: mcp.Failure}, `{"jsonrpc":"2.0","error":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(tc.m.Append([]byte("x"))); got != "x"+tc.want {
				t.Errorf("%s", got)
			}
			got := tc.m.Bytes()
			if string(got) != tc.want || !json.Valid(got) || len(got) > tc.m.Size() && name != "odd method" {
				t.Errorf("%s, size %d", got, tc.m.Size())
			}
		})
	}
}

// What is decoded and written again differs in its envelope only (P7).
func TestDecodedMessagesKeepTheirBytes(t *testing.T) {
	for text, want := range map[string]string{
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`:                        `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, // T52
		`{"params":{ "b":1,"a":[1.10] },"x":1,"method":"p\/q","id":1.0,"jsonrpc":"2.0"}`: `{"jsonrpc":"2.0","id":1.0,"method":"p/q","params":{ "b":1,"a":[1.10] }}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}`:              `{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}}`, // T49
		`{"jsonrpc":"2.0","id":55,"result":{}}`:                                          `{"jsonrpc":"2.0","id":55,"result":{}}`,
		`{"jsonrpc":"2.0","id":"\ud800","result":{"` + "\u2028" + `":"\ud800"}}`:         `{"jsonrpc":"2.0","id":"\ud800","result":{"` + "\u2028" + `":"\ud800"}}`,
	} {
		if got := string(decode(t, text).Bytes()); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
	pretty := decode(t, "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 57,\n  \"result\": {\n  \"a\": \" b \"\n }\n}")
	if got := mcp.Raw(pretty.Bytes()).Compact(); string(got) != `{"jsonrpc":"2.0","id":57,"result":{"a":" b "}}` { // T57
		t.Errorf("%s", got)
	}
}

func TestAnswers(t *testing.T) {
	request := decode(t, `{"jsonrpc":"2.0","id":"a","method":"tools/call"}`)
	request.Call, request.Within = 3, 4
	result := request.Answer(mcp.MustObject(`{"a":1}`))
	failure := request.Refuse(&mcp.Error{Code: -7, Message: "no", Data: mcp.Raw(`{"x":1.10}`)})
	for _, m := range []*mcp.Message{result, failure} {
		if m.ID != request.ID || m.Method != "tools/call" || m.Call != 3 || m.Within != 4 || !m.IsAnswer() {
			t.Errorf("%+v", m)
		}
	}
	if got := string(result.Bytes()); got != `{"jsonrpc":"2.0","id":"a","result":{"a":1}}` {
		t.Errorf("%s", got)
	}
	if got := string(failure.Bytes()); got != `{"jsonrpc":"2.0","id":"a","error":{"code":-7,"message":"no","data":{"x":1.10}}}` {
		t.Errorf("%s", got)
	}
	if request.IsAnswer() || mcp.NewNotification("x", nil).IsAnswer() {
		t.Error("a question is taken for an answer")
	}
}

func TestParamsAndMeta(t *testing.T) {
	m := mcp.NewRequest("x", nil)
	if m.Meta() != nil || m.Body != nil {
		t.Error("asking for _meta made a body")
	}
	m.Params().Set("a", mcp.Raw(`1`))
	if got := string(m.Bytes()); got != `{"jsonrpc":"2.0","method":"x","params":{"a":1}}` {
		t.Errorf("%s", got)
	}
	m = decode(t, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":1}}}`)
	if m.Params() != m.Body {
		t.Error("Params made a second body")
	}
	m.Meta().Set("progressToken", mcp.Raw(`2`))
	if got := string(m.Body.Raw()); got != `{"_meta":{"progressToken":2}}` {
		t.Errorf("%s", got)
	}
}

func TestProgressToken(t *testing.T) {
	for params, want := range map[string]string{
		`{"_meta":{"progressToken":0}}`: `0`, `{"_meta":{"progressToken":"a"}}`: `"a"`, `{"_meta":{"progressToken":9007199254740993}}`: `9007199254740993`,
		`{"_meta":{"progressToken":null}}`: ``, `{"_meta":{"progressToken":1.5}}`: ``, `{"_meta":{"progressToken":{}}}`: ``,
		`{"_meta":{}}`: ``, `{"_meta":[]}`: ``, `{"progressToken":1}`: ``, `{}`: ``, `null`: ``,
	} {
		m := decode(t, `{"jsonrpc":"2.0","id":1,"method":"x","params":`+params+`}`)
		if got, ok := m.ProgressToken(); got.String() != want || ok != (want != "") {
			t.Errorf("%s: %s, %v", params, got, ok)
		}
	}
}

func TestCode(t *testing.T) {
	for body, want := range map[string]int{
		`{"code":-32601,"message":""}`: -32601, `{"code":5}`: 5, `{"code":0}`: 0, `{}`: 0, `{"code":"-1"}`: 0, `{"code":1.5}`: 0, `{"code":null}`: 0,
	} {
		if got := decode(t, `{"jsonrpc":"2.0","id":1,"error":`+body+`}`).Code(); got != want {
			t.Errorf("%s: %d", body, got)
		}
	}
	if got := (&mcp.Message{Kind: mcp.Failure}).Code(); got != 0 {
		t.Errorf("no body: %d", got)
	}
}

func TestMessageTextHasNoContent(t *testing.T) {
	m := decode(t, `{"jsonrpc":"2.0","id":"i","method":"tools/call","params":{"name":"secret"}}`)
	if got := m.String(); got != `request tools/call id="i"` {
		t.Errorf("%s", got)
	}
	var kinds []string
	for _, k := range []mcp.Kind{mcp.Request, mcp.Notification, mcp.Result, mcp.Failure, 0, 99} {
		kinds = append(kinds, k.String())
	}
	if got := strings.Join(kinds, " "); got != "request notification result error unknown unknown" {
		t.Errorf("%s", got)
	}
}
