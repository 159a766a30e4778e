package negotiate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// The rules of three routes.
func lenient() negotiate.Rules { return negotiate.Rules{MaxBatch: 10} }

func strictBatches() negotiate.Rules {
	return negotiate.Rules{Strict: true, Batches: true, MaxBatch: 10}
}

func strictSingles() negotiate.Rules { return negotiate.Rules{Strict: true, MaxBatch: 10} }

// take returns what a frame comes to, in one line: the messages to serve, by
// id or method; after "!" the ids of -32600 entries; or "refused" and the id.
func take(t *testing.T, text string, rules negotiate.Rules) string {
	t.Helper()
	frame, fault := mcp.Decode([]byte(text))
	if fault != nil {
		t.Fatalf("%s: %v", text, fault)
	}
	in := negotiate.Inbound(frame, rules)
	var words []string
	for _, m := range in.Messages {
		if m.Kind == mcp.Notification {
			words = append(words, m.Method)
		} else {
			words = append(words, m.ID.String())
		}
	}
	for _, m := range in.Errors {
		if m.Kind != mcp.Failure || m.Code() != mcp.CodeInvalidRequest || m.ID.IsZero() || m.Body.Text("message") == "" {
			t.Errorf("%s: the entry %s", text, m.Bytes())
		}
		words = append(words, "!"+m.ID.String())
	}
	if f := in.Refusal; f != nil {
		if f.Code != mcp.CodeInvalidRequest || f.Message == "" || len(words) > 0 {
			t.Errorf("%s: refused with %+v, yet %q", text, f, words)
		}
		words = []string{strings.TrimSpace("refused " + f.ID.String())}
	}
	return strings.Join(words, " ")
}

// intake is a body, and what it comes to on each route.
type intake struct{ name, text, lenient, batches, singles string }

func checkIntake(t *testing.T, cases []intake) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			for _, route := range []struct {
				name  string
				rules negotiate.Rules
				want  string
			}{{"lenient", lenient(), tc.lenient}, {"strict, batches", strictBatches(), tc.batches}, {"strict, none", strictSingles(), tc.singles}} {
				if got := take(t, tc.text, route.rules); got != route.want {
					t.Errorf("%s: %s; want %s", route.name, got, route.want)
				}
			}
		})
	}
}

func TestInboundSingles(t *testing.T) {
	all := func(name, text, want string) intake { return intake{name, text, want, want, want} }
	checkIntake(t, []intake{
		all("request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `1`),
		all("initialize", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, `0`),
		all("notification", `{"jsonrpc":"2.0","method":"x"}`, `x`),
		all("response", `{"jsonrpc":"2.0","id":"s-2","result":{}}`, `"s-2"`),
		all("T50", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"rm","arguments":{}}}`, `refused`),
		all("report 97", `{"jsonrpc":"2.0","id":true,"method":"tools/list"}`, `refused`),
		all("report 95", `{"jsonrpc":"2.0","id":2.5,"method":"tools/list"}`, `refused`),
		all("T58", `{"jsonrpc":"2.0","id":58,"method":"ping","method":"tools/call","params":{"name":"rm"}}`, `refused 58`),
		all("id 0", `{"id":0,"method":"x"}`, `refused 0`),
		all("id empty", `{"id":"","method":"x"}`, `refused ""`),
		all("bad response", `{"jsonrpc":"2.0","id":1,"result":7}`, `refused`),
		all("no object", `7`, `refused`),
	})
}

const refused = "refused"

// What a batch of the grammar comes to (matrix §7; reports of group C).
func TestInboundBatches(t *testing.T) {
	checkIntake(t, []intake{
		{"T59", `[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},{"jsonrpc":"2.0","id":"a","method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"nope/none"}]`,
			`notifications/roots/list_changed "a" 2`, `notifications/roots/list_changed "a" 2`, refused},
		{"T60, T68", `[{"jsonrpc":"2.0","id":60,"method":"ping"}]`, `60`, `60`, refused},
		{"T65", `[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`,
			`notifications/cancelled notifications/roots/list_changed`, `notifications/cancelled notifications/roots/list_changed`, refused},
		{"T66", `[{"jsonrpc":"2.0","id":101,"result":{"roots":[]}},{"jsonrpc":"2.0","id":"s-2","error":{"code":-1,"message":"User rejected sampling request"}}]`,
			`101 "s-2"`, `101 "s-2"`, refused},
		{"report 27", `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"z"}}},{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}]`,
			`1 2 notifications/progress`, `1 2 notifications/progress`, refused},
		{"report 28", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]`, `1 2`, `1 2`, refused},
		{"report 30", `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"denied","arguments":{}}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ok","arguments":{}}}]`, `1 2`, `1 2`, refused},
		{"mixed, §7.3.5", `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]`, `1 1 x`, `1 1 x`, refused},
		{"responses with one id", `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}}]`, `1 1`, `1 1`, refused},
		{"error without id", `[{"jsonrpc":"2.0","error":{"code":-1}},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, ` 1`, ` 1`, refused},
	})
}

// Nothing of these reaches a server (decision 6; matrix §7.3, 1, 3 and 4).
func TestInboundRefusesBatches(t *testing.T) {
	never := func(name, text string) intake { return intake{name, text, refused, refused, refused} }
	checkIntake(t, []intake{
		never("T61", `[{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"pay","arguments":{"n":1}}},{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"pay","arguments":{"n":2}}}]`),
		never("T62, 5 and 5.0", `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":5.0,"method":"ping"}]`),
		never("5 and 50e-1, apart", `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":50e-1,"method":"ping"}]`),
		never(`"a" and "\u0061"`, `[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"\u0061","method":"ping"}]`),
		never("id 0", `[{"jsonrpc":"2.0","id":0,"method":"ping"},{"jsonrpc":"2.0","id":-0,"method":"ping"}]`),
		never("T63, report 31", `[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]`),
		never("initialize last", `[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"initialize"}]`),
		never("initialize alone", `[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`),
		never("initialize escaped", `[{"jsonrpc":"2.0","id":1,"method":"initi\u0061lize"}]`),
		never("initialize without id", `[{"jsonrpc":"2.0","method":"initialize"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`),
		never("T64", `[]`),
		never("only faults", `[1,[],{"jsonrpc":"2.0","id":null,"method":"x"}]`),
		never("only faults, with ids", `[{"id":1,"method":"x"},{"id":2,"method":"x"}]`),
		never("nested", `[[{"jsonrpc":"2.0","id":1,"method":"ping"}]]`),
		never("a fault with a request's id", `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":5,"method":7}]`),
		never("a request with a fault's id", `[{"jsonrpc":"2.0","id":5.0,"method":7},{"jsonrpc":"2.0","id":5,"method":"ping"}]`),
		never("faults with one id", `[{"id":5,"method":"x"},{"id":5,"method":"x"},{"jsonrpc":"2.0","id":6,"method":"ping"}]`),
	})
	checkIntake(t, []intake{
		{`T62, 5 and "5"`, `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":"5","method":"ping"}]`, `5 "5"`, `5 "5"`, refused},
	})
}

// One bad element (decision 6): an entry where its id can be read, else
// silence; the rest is served. A strict route serves nothing of it.
func TestInboundFaultyElements(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, tc := range map[string]struct{ element, want string }{
		"wrong version":    {`{"jsonrpc":"1.0","id":"b","method":"x"}`, `1 !"b"`},
		"id 0":             {`{"id":0,"method":"x"}`, `1 !0`},
		"id empty":         {`{"id":"","method":"x"}`, `1 !""`},
		"id 2.0":           {`{"jsonrpc":"2.0","id":2.0,"method":"x","params":[1]}`, `1 !2.0`},
		`id "1", not 1`:    {`{"id":"1","method":"x"}`, `1 !"1"`},
		"params":           {`{"jsonrpc":"2.0","id":9,"method":"x","params":"p"}`, `1 !9`},
		"duplicate":        {`{"jsonrpc":"2.0","id":9,"method":"x","method":"y"}`, `1 !9`},
		"T50":              {`{"jsonrpc":"2.0","id":null,"method":"x"}`, `1`},
		"report 97":        {`{"jsonrpc":"2.0","id":1.5,"method":"x"}`, `1`},
		"bad notification": {`{"jsonrpc":"2.0","method":"x","params":1}`, `1`},
		"bad response":     {`{"jsonrpc":"2.0","id":9,"result":1}`, `1`},
		"two ids":          {`{"jsonrpc":"2.0","id":9,"id":8,"method":"x"}`, `1`},
		"array":            {`[` + ping + `]`, `1`},
		"empty array":      {`[]`, `1`},
		"empty object":     {`{}`, `1`},
		"null":             {`null`, `1`},
		"string":           {`"ping"`, `1`},
	} {
		checkIntake(t, []intake{
			{name + ", last", `[` + ping + `,` + tc.element + `]`, tc.want, refused, refused},
			{name + ", first", `[` + tc.element + `,` + ping + `]`, tc.want, refused, refused},
		})
	}
}

func TestInboundMaxBatch(t *testing.T) {
	batch := func(n int, element string) string {
		return "[" + strings.Join(slices.Repeat([]string{element}, n), ",") + "]"
	}
	note := `{"jsonrpc":"2.0","method":"x"}`
	for text, want := range map[string]string{
		batch(10, note): strings.TrimSpace(strings.Repeat("x ", 10)),
		batch(11, note): refused,
		batch(11, `1`):  refused,
		note:            "x",
	} {
		if got := take(t, text, lenient()); got != want {
			t.Errorf("%.60s: %s; want %s", text, got, want)
		}
	}
	if got := take(t, batch(1, note), negotiate.Rules{MaxBatch: 1}); got != "x" {
		t.Errorf("one of one: %s", got)
	}
}

// Report 92: an id is unique within its exchange, no further.
func TestInboundRemembersNothing(t *testing.T) {
	for range 2 {
		if got := take(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, lenient()); got != `1` {
			t.Errorf("%s", got)
		}
		if got := take(t, `[{"jsonrpc":"2.0","id":1,"method":"tools/call"}]`, lenient()); got != `1` {
			t.Errorf("%s", got)
		}
	}
}

// The wire form of what is refused: an id that is known, or none; never null.
func TestInboundRefusalsOnTheWire(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: `{"jsonrpc":"2.0","error":{"code":-32600,"message":"the batch is empty"}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`:     `{"jsonrpc":"2.0","error":{"code":-32600,"message":"initialize must not be part of a batch"}}`,
		`{"jsonrpc":"2.0","id":null,"method":"x"}`:             `{"jsonrpc":"2.0","error":{"code":-32600,"message":"the id must be a string or an integer"}}`,
		`{"jsonrpc":"2.0","id":1.0,"method":"a","method":"b"}`: `{"jsonrpc":"2.0","id":1.0,"error":{"code":-32600,"message":"the member method occurs twice"}}`,
	} {
		frame, _ := mcp.Decode([]byte(text))
		f := negotiate.Inbound(frame, lenient()).Refusal
		if got := string(f.Failure(f.ID).Bytes()); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}
