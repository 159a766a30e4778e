package stdio

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func TestSalvage(t *testing.T) {
	for name, c := range map[string]struct {
		head, tail string
		id         string
		answer     bool
	}{
		"id first":               {`{"jsonrpc":"2.0","id":7,"result":{"a":"xx`, `xx"}}`, "7", true},
		"id last":                {`{"result":{"a":"xx`, `xx"},"jsonrpc":"2.0","id":7}`, "7", true},
		"id before version":      {`{"error":{"a":"xx`, `xx"}, "id" : "a\"b" , "jsonrpc":"2.0" } `, `"a\"b"`, true},
		"large id":               {`{"id":9007199254740993,"result":[`, ``, "9007199254740993", true},
		"text id":                {"\xef\xbb\xbf" + `{"id":"1","result":[`, ``, `"1"`, true},
		"request":                {`{"jsonrpc":"2.0","id":7,"method":"x","params":{`, `}}`, "7", false},
		"request, id last":       {`{"method":"x","params":{"a":"`, `"},"jsonrpc":"2.0","id":7}`, "7", false},
		"id of something inside": {`{"result":{"id":3,"x":"`, `","id":4}]}}`, "", true},
		"id in a string":         {`{"result":{"x":"`, `,\"id\":4}`, "", true},
		"no value":               {`{"result":{},"id":`, ``, "", true},
		"id is null":             {`{"id":null,"error":{`, ``, "", true},
		"fraction":               {`{"id":1.5,"error":{`, ``, "", true},
		"array":                  {`[{"id":1,"result":{`, `,"id":1}`, "1", false},
		"text":                   {`listening on port 8080`, `listening on port 8080`, "", false},
		"number":                 {`42`, `42`, "", false},
		"broken inside":          {`{"jsonrpc":"2.0","result":{"a":1,},"id":5}`, `{"jsonrpc":"2.0","result":{"a":1,},"id":5}`, "5", true},
	} {
		t.Run(name, func(t *testing.T) {
			id, answer := salvage([]byte(c.head), []byte(c.tail))
			if id.String() != c.id || answer != c.answer {
				t.Errorf("got %s %v", id, answer)
			}
		})
	}
}

func FuzzSalvage(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":7,"result":{"a":"xx`, 20)
	f.Add(`{"result":{},"jsonrpc":"2.0","id":"7"}`, 5)
	f.Fuzz(func(t *testing.T, text string, at int) {
		at = min(max(at, 0), len(text))
		salvage([]byte(text[:at]), []byte(text[at:]))
		m, err := mcp.DecodeMessage([]byte(text))
		if err != nil || m.ID.IsZero() {
			return
		}
		// What is told of a message that can be read is what it says.
		if id, answer := salvage([]byte(text), []byte(text)); id.Key() != m.ID.Key() || answer != m.IsAnswer() {
			t.Errorf("%q: got %s %v", text, id, answer)
		}
	})
}
