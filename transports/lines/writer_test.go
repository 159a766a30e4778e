package lines

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type text string

func (s text) Append(dst []byte) []byte { return append(dst, s...) }

// TestAppend writes one line for each message, whatever others take for the end
// of a line (field report 82), with LF alone (field report 88).
func TestAppend(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":          {`{"a":1}`, `{"a":1}`},
		"pretty-printed": {"{\r\n  \"a\": [\n1\n]\n}", "{    \"a\": [ 1 ] }"}, // T57
		"separators":     {"\"a\u2028b\u2029c\u0085d\"\n", `"a\u2028b\u2029c\u0085d" `},
		"near misses":    {"\"\u201c\u2027\u202a\u00e9\u0084\U0001F600\"", "\"\u201c\u2027\u202a\u00e9\u0084\U0001F600\""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(Append([]byte("x\n"), text(c.in))); got != "x\n"+c.want+"\n" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	var body Body = text(strings.Repeat(`{"a":"é“"}`+"\n", 1000))
	buf := make([]byte, 0, 1<<16)
	if n := testing.AllocsPerRun(100, func() { buf = Append(buf[:0], body) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("{\n\"a\": \"\u2028\" }")
	f.Add("\"\u0085\"")
	f.Fuzz(func(t *testing.T, body string) {
		var before, after any
		if json.Unmarshal([]byte(body), &before) != nil {
			t.Skip()
		}
		framed := string(Append(nil, text(body)))
		for _, end := range []string{"\u2028", "\u2029", "\u0085", "\r"} {
			if strings.Contains(framed, end) {
				t.Fatalf("%q keeps a line end", framed)
			}
		}
		got, _ := readAll(t, strings.NewReader(framed), 1<<20)
		if len(got) != 1 {
			t.Fatalf("%q is %d lines", framed, len(got))
		}
		if err := json.Unmarshal([]byte(got[0]), &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q: %v", body, got[0], err)
		}
	})
}
