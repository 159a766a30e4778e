package eventstream

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func readAll(t testing.TB, r io.Reader, limit int) ([]Event, error) {
	t.Helper()
	var out []Event
	for reader := NewReader(r, limit); ; {
		e, err := reader.Next()
		if err != nil {
			return out, err
		}
		out = append(out, *e)
	}
}

func message(data string) Event { return Event{Type: MessageType, Data: []byte(data)} }

func TestReader(t *testing.T) {
	const ok = `{"jsonrpc":"2.0","id":1,"result":{}}`
	for name, c := range map[string]struct {
		in   string
		want []Event
	}{
		"LF":                     {"event: message\ndata: " + ok + "\n\n", []Event{message(ok)}},
		"CRLF":                   {"event: message\r\ndata: " + ok + "\r\n\r\n", []Event{message(ok)}},
		"lone CR":                {"data: " + ok + "\r\r", []Event{message(ok)}},
		"LF then CRLF":           {"data: " + ok + "\n\r\n", []Event{message(ok)}},
		"CR then LF LF":          {"data: a\r\n\ndata: b\n\r", []Event{message("a"), message("b")}},
		"byte order mark":        {"\xef\xbb\xbfdata: a\n\n", []Event{message("a")}},
		"mark only at the start": {"data: a\n\n\xef\xbb\xbfdata: b\n\n", []Event{message("a")}},
		"data before event":      {"data: /m?id=1\r\nevent: endpoint\r\n\r\n", []Event{{Type: "endpoint", Data: []byte("/m?id=1")}}},
		"no space":               {"data:" + ok + "\n\n", []Event{message(ok)}},
		"two spaces":             {"data:  a\n\n", []Event{message(" a")}},
		"empty type":             {"event:\ndata: a\n\n", []Event{message("a")}},
		"joined data":            {"data: a\ndata\ndata: b\n\n", []Event{message("a\n\nb")}},
		"comments":               {": ping - 2025-07-15 00:00:00\r\n\r\n:\n\n", nil},
		"comment inside":         {"data: a\n:x\ndata: b\n\n", []Event{message("a\nb")}},
		"empty data":             {"event: ping\ndata:\n\ndata: \n\n", []Event{{Type: "ping", Data: []byte{}}, message("")}},
		"priming":                {"id: 7\ndata:\n\n", []Event{{Type: MessageType, ID: "7", HasID: true, Data: []byte{}}}},
		"id alone":               {"id: 7\n\n", []Event{{Type: MessageType, ID: "7", HasID: true}}},
		"id reset":               {"id\n\n", []Event{{Type: MessageType, HasID: true}}},
		"id with NUL":            {"id: a\x00b\ndata: a\n\n", []Event{message("a")}},
		"last id wins":           {"id: a\nid: b\ndata: a\n\n", []Event{{Type: MessageType, ID: "b", HasID: true, Data: []byte("a")}}},
		"retry":                  {"retry: 1500\n\n", []Event{{Type: MessageType, Retry: 1500 * time.Millisecond}}},
		"bad retry":              {"retry: 1.5\nretry: 99999999999999999999\ndata: a\n\n", []Event{message("a")}},
		"unknown field":          {"foo: bar\n\ndata: a\n\n", []Event{message("a")}},
		"cut off":                {"data: a\n\ndata: b\n", []Event{message("a")}},
		"colon in value":         {"data: a: b\n\n", []Event{message("a: b")}},
		"report 82":              {"data: {\"a\":\"a\u2028b\u2029c\u0085d\"}\n\n", []Event{message("{\"a\":\"a\u2028b\u2029c\u0085d\"}")}},
		"nothing":                {"", nil},
		"blank lines":            {"\n\n\r\r\n\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"whole": strings.NewReader(c.in), "by byte": iotest.OneByteReader(strings.NewReader(c.in)),
			} {
				got, err := readAll(t, r, 1000)
				if err != io.EOF {
					t.Fatalf("%s: %v", how, err)
				}
				if !sameEvents(got, c.want) {
					t.Errorf("%s:\n got %+v\nwant %+v", how, got, c.want)
				}
			}
		})
	}
}

func sameEvents(a, b []Event) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if string(a[i].Data) != string(b[i].Data) {
			return false
		}
		x, y := a[i], b[i]
		x.Data, y.Data = nil, nil
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

func TestReaderLimit(t *testing.T) {
	for name, c := range map[string]struct {
		in string
		ok bool
	}{
		"at the limit":      {"data: " + strings.Repeat("x", 100) + "\n\n", true},
		"over":              {"data: " + strings.Repeat("x", 101) + "\n\n", false},
		"over without end":  {"data: " + strings.Repeat("x", 1<<20), false},
		"comment too long":  {":" + strings.Repeat("x", 1<<20), false},
		"many lines":        {strings.Repeat("data: xxxxxxxxx\n", 12) + "\n", false},
		"many empty lines":  {strings.Repeat("data\n", 1000) + "\n", false},
		"many small events": {strings.Repeat("data: "+strings.Repeat("x", 90)+"\n\n", 50), true},
		"unknown fields":    {strings.Repeat("x: "+strings.Repeat("x", 90)+"\n\n", 50), true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readAll(t, strings.NewReader(c.in), 100)
			if c.ok != (err == io.EOF) || !c.ok && !errors.Is(err, ErrTooLarge) {
				t.Fatal(err)
			}
		})
	}
}

// TestReaderDoesNotWait reads an event whose blank line has come from a peer
// that sends nothing more, not even the LF that may follow a CR.
func TestReaderDoesNotWait(t *testing.T) {
	for _, in := range []string{"data: a\n\n", "data: a\r\r", "data: a\r\n\r"} {
		near, far := io.Pipe()
		go func() { _, _ = far.Write([]byte(in)) }()
		e, err := NewReader(near, 100).Next()
		if err != nil || string(e.Data) != "a" {
			t.Fatalf("%q: %v %v", in, e, err)
		}
		_ = near.Close()
	}
}

func TestReaderLargeEventIsOwned(t *testing.T) {
	big := strings.Repeat("0123456789", 20_000)
	r := NewReader(strings.NewReader("data: "+big+"\n\ndata: "+big+"x\n\n"), 1<<20)
	first, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if string(first.Data) != big || string(second.Data) != big+"x" {
		t.Fatal("an event changed after it was returned")
	}
}

func FuzzReader(f *testing.F) {
	f.Add("data: a\r\n\r\nid: 3\rdata: b\r\r", 5)
	f.Add("\xef\xbb\xbfevent: x\ndata\n\n", 2)
	f.Fuzz(func(t *testing.T, in string, at int) {
		whole, wholeErr := readAll(t, strings.NewReader(in), 64)
		if at < 0 || at > len(in) {
			at = len(in) / 2
		}
		split, splitErr := readAll(t, io.MultiReader(strings.NewReader(in[:at]), strings.NewReader(in[at:])), 64)
		bytewise, byteErr := readAll(t, iotest.OneByteReader(strings.NewReader(in)), 64)
		if !sameEvents(whole, split) || !sameEvents(whole, bytewise) || wholeErr != splitErr || wholeErr != byteErr {
			t.Fatalf("%q:\nwhole %+v %v\nsplit %+v %v\nbytes %+v %v", in, whole, wholeErr, split, splitErr, bytewise, byteErr)
		}
	})
}
