package eventstream

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

type text string

func (s text) Append(dst []byte) []byte { return append(dst, s...) }

// TestAppend writes what many parsers take for line ends as escapes (field
// report 82).
func TestAppend(t *testing.T) {
	for name, c := range map[string]struct{ id, in, want string }{
		"plain":         {"", `{"a":1}`, "event: message\ndata: {\"a\":1}\n\n"},
		"id":            {"7", `{}`, "event: message\nid: 7\ndata: {}\n\n"},
		"bad id":        {"7\n8", `{}`, "event: message\ndata: {}\n\n"},
		"raw lines":     {"", "{\r\n\"a\":\n1}", "event: message\ndata: {  \"a\": 1}\n\n"},
		"separators":    {"", "\"a\u2028b\u2029c\u0085d\"\n", `event: message` + "\n" + `data: "a\u2028b\u2029c\u0085d" ` + "\n\n"},
		"near misses":   {"", "\"\u201c\u2027\u202a\u00e9\u0084\U0001F600\"", "event: message\ndata: \"\u201c\u2027\u202a\u00e9\u0084\U0001F600\"\n\n"},
		"control":       {"", "[\t1]", "event: message\ndata: [\t1]\n\n"},
		"cut character": {"", "\xe2\x80", "event: message\ndata: \xe2\x80\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(Append([]byte("x"), c.id, text(c.in))); got != "x"+c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	var body Body = text(strings.Repeat(`{"a":"é“"}`+"\n", 1000))
	buf := make([]byte, 0, 1<<16)
	if n := testing.AllocsPerRun(100, func() { buf = Append(buf[:0], "1", body) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("1", "{\n\"a\": \"\u2028\" }")
	f.Add("", "\"\u0085\"")
	f.Fuzz(func(t *testing.T, id, body string) {
		var before, after any
		if json.Unmarshal([]byte(body), &before) != nil {
			t.Skip()
		}
		framed := Append(nil, id, text(body))
		for _, end := range []string{"\u2028", "\u2029", "\u0085", "\r"} {
			if strings.Contains(string(framed), end) && !strings.Contains(id, end) {
				t.Fatalf("%q keeps a line end", framed)
			}
		}
		events, _ := readAll(t, strings.NewReader(string(framed)), 1<<20)
		if len(events) != 1 || !events[0].IsMessage() {
			t.Fatalf("%q gives %+v", framed, events)
		}
		if !strings.ContainsAny(id, "\r\n\x00") && events[0].ID != id {
			t.Fatalf("id %q became %q", id, events[0].ID)
		}
		if err := json.Unmarshal(events[0].Data, &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q: %v", body, events[0].Data, err)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	body := text(`{"a":"` + strings.Repeat("abcdefgh é ", 100_000) + `"}`)
	buf := make([]byte, 0, 2<<20)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		buf = Append(buf[:0], "", body)
	}
}

func BenchmarkReader(b *testing.B) {
	framed := string(Append(nil, "", text(`{"a":"`+strings.Repeat("abcdefgh é ", 100_000)+`"}`)))
	b.SetBytes(int64(len(framed)))
	for b.Loop() {
		if _, err := NewReader(strings.NewReader(framed), 4<<20).Next(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPosition reads what tells a position: it is no message.
func TestPosition(t *testing.T) {
	text := AppendPosition(nil, "a-0", 1500*time.Millisecond)
	e, err := NewReader(bytes.NewReader(text), 100).Next()
	if err != nil || e.ID != "a-0" || !e.HasID || e.Retry != 1500*time.Millisecond || e.IsMessage() || len(e.Data) > 0 {
		t.Errorf("%q is read as %+v, %v", text, e, err)
	}
	if want := "retry: 1500\nid: a-0\ndata:\n\n"; string(text) != want {
		t.Errorf("%q, want %q", text, want)
	}
}
