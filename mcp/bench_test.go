package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// call is a tools/call request of about 300 bytes.
func call() string {
	return `{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"search_issues","arguments":{"query":"is:open label:\"bug\" sort:updated","repository":"example/project","limit":25,"fields":["title","number","labels","body"],"since":"2025-06-18T00:00:00Z"},"_meta":{"progressToken":42,"com.example/trace":"00-4bf92f-01"}}}`
}

// result is a tools/call result of about size bytes: half text, half structure.
func result(size int) string {
	row := `{"id":9007199254740993,"title":"A row with a \"quoted\" word","score":0.8250,"tags":["a","b"]}`
	n := size/2/len(row) + 1
	rows := strings.Repeat(row+",", n-1) + row
	text := strings.Repeat(`{\"id\":9007199254740993,\"title\":\"A row of text\"}\n`, size/2/55)
	return `{"jsonrpc":"2.0","id":42,"result":{"content":[{"type":"text","text":"` + text + `"}],"structuredContent":{"rows":[` + rows + `]},"isError":false}}`
}

func inputs() []struct{ name, text string } {
	return []struct{ name, text string }{
		{"call-300B", call()},
		{"result-10KiB", result(10 << 10)},
		{"result-1MiB", result(1 << 20)},
	}
}

func TestBenchmarkInputs(t *testing.T) {
	for i, want := range []int{300, 10 << 10, 1 << 20} {
		text := inputs()[i].text
		if got := len(text); got < want*9/10 || got > want*11/10 {
			t.Errorf("%s has %d bytes", inputs()[i].name, got)
		}
		if m := decode(t, text); string(m.Bytes()) != text {
			t.Errorf("%s is written as %.80s", inputs()[i].name, m.Bytes())
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, in := range inputs() {
		b.Run(in.name, func(b *testing.B) {
			text := []byte(in.text)
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, fault := mcp.Decode(text); fault != nil {
					b.Fatal(fault)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, edited := range []bool{false, true} {
		for _, in := range inputs() {
			b.Run(fmt.Sprintf("%s/edited=%v", in.name, edited), func(b *testing.B) {
				m := decode(b, in.text)
				if edited {
					m.Body.Set("_meta", mcp.Raw(`{"progressToken":7}`))
				}
				buf := make([]byte, 0, m.Size())
				b.ReportAllocs()
				b.SetBytes(int64(len(m.Bytes())))
				for b.Loop() {
					buf = m.Append(buf[:0])
				}
			})
		}
	}
}
