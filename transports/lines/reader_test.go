package lines

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll returns the lines, and for one that is too long its description.
func readAll(t testing.TB, r io.Reader, limit int) ([]string, error) {
	t.Helper()
	var out []string
	for reader := NewReader(r, limit); ; {
		line, err := reader.Next()
		var long *TooLong
		switch {
		case errors.As(err, &long):
			out = append(out, fmt.Sprintf("too long: %d %.5s %s", long.Size, long.Head, long.Tail[max(0, len(long.Tail)-3):]))
		case err != nil:
			return out, err
		default:
			out = append(out, string(line))
		}
	}
}

func TestReader(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"LF":                  {"{}\n[]\n", []string{"{}", "[]"}},
		"CRLF":                {"{}\r\n[]\r\n", []string{"{}", "[]"}},
		"one CR is cut":       {"{}\r\r\n", []string{"{}\r"}},
		"CR is no end":        {"a\rb\n", []string{"a\rb"}},
		"Unicode is no end":   {"a\u2028b\u2029c\u0085d\n", []string{"a\u2028b\u2029c\u0085d"}},
		"no end":              {"{}\n[]", []string{"{}", "[]"}},
		"blank":               {"\n\r\n \t\n{}\n\n", []string{"{}"}},
		"byte order mark":     {"\xef\xbb\xbf{}\n\xef\xbb\xbf[]\n", []string{"{}", "\xef\xbb\xbf[]"}},
		"mark alone":          {"\xef\xbb\xbf\r\n{}\n", []string{"{}"}},
		"nothing":             {"", nil},
		"at the limit":        {strings.Repeat("x", 100) + "\r\n", []string{strings.Repeat("x", 100)}},
		"above":               {strings.Repeat("x", 105) + "yz\nnext\n", []string{"too long: 107 xxxxx xyz", "next"}},
		"above, first marked": {"\xef\xbb\xbf" + strings.Repeat("x", 100) + "\r\n", []string{strings.Repeat("x", 100)}},
		"above and cut off":   {"a\n" + strings.Repeat("x", 200), []string{"a", "too long: 200 xxxxx xxx"}},
		"far above":           {strings.Repeat("x", 1<<20) + "\nnext", []string{"too long: 1048576 xxxxx xxx", "next"}},
		"Content-Length":      {"Content-Length: 2\r\n\r\n{}\n", []string{"Content-Length: 2", "{}"}},
	} {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"whole": strings.NewReader(c.in), "by byte": iotest.OneByteReader(strings.NewReader(c.in)),
			} {
				got, err := readAll(t, r, 100)
				if err != io.EOF || !slices.Equal(got, c.want) {
					t.Errorf("%s:\n got %q %v\nwant %q", how, got, err, c.want)
				}
			}
		})
	}
}

// TestReaderTakesLargeLines has the sizes of field report 86.
func TestReaderTakesLargeLines(t *testing.T) {
	for _, size := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, 1<<20 + 1, 12_000_000} {
		in := strings.Repeat("0123456789", size/10+1)[:size]
		r := NewReader(strings.NewReader(in+"\n"+in+"x\n"), 64<<20)
		first, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		second, err := r.Next()
		if err != nil || string(first) != in || string(second) != in+"x" {
			t.Errorf("%d bytes did not come as they were sent: %v", size, err)
		}
	}
}

// endless is a line without an end.
type endless struct{ left int64 }

func (e *endless) Read(b []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(b)), e.left)
	e.left -= n // whatever is in b has no line end: nobody else writes to it
	return int(n), nil
}

func TestReaderKeepsNothingOfWhatItSkips(t *testing.T) {
	r := NewReader(io.MultiReader(&endless{left: 100 << 20}, strings.NewReader("\nnext\n")), 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := r.Next()
	runtime.ReadMemStats(&after)
	var long *TooLong
	if !errors.As(err, &long) || long.Size != 100<<20 {
		t.Fatal(err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes were allocated for a limit of 1 MiB", used)
	}
	if line, err := r.Next(); err != nil || string(line) != "next" {
		t.Errorf("after it came %q %v", line, err)
	}
}

func TestReaderReportsAnErrorInsteadOfHalfALine(t *testing.T) {
	broken := errors.New("broken")
	in := func(s string) io.Reader { return io.MultiReader(strings.NewReader(s), iotest.ErrReader(broken)) }
	for _, text := range []string{"", "half", strings.Repeat("x", 1000)} {
		if got, err := readAll(t, in("a\n"+text), 100); err != broken || len(got) != 1 {
			t.Errorf("%.10q: %q %v", text, got, err)
		}
	}
}

// TestReaderDoesNotWait reads a line from a peer that sends nothing more.
func TestReaderDoesNotWait(t *testing.T) {
	near, far := io.Pipe()
	go func() { _, _ = far.Write([]byte("{}\n")) }()
	if line, err := NewReader(near, 100).Next(); err != nil || string(line) != "{}" {
		t.Fatalf("%q %v", line, err)
	}
	_ = near.Close()
}

func FuzzReader(f *testing.F) {
	f.Add("a\r\n\nb", 2)
	f.Add("\xef\xbb\xbf\n"+strings.Repeat("x", 70)+"\ny", 66)
	f.Fuzz(func(t *testing.T, in string, at int) {
		const limit = 64
		at = min(max(at, 0), len(in))
		whole, wholeErr := readAll(t, strings.NewReader(in), limit)
		split, splitErr := readAll(t, io.MultiReader(strings.NewReader(in[:at]), strings.NewReader(in[at:])), limit)
		bytewise, byteErr := readAll(t, iotest.OneByteReader(strings.NewReader(in)), limit)
		if !slices.Equal(whole, split) || !slices.Equal(whole, bytewise) || wholeErr != splitErr || wholeErr != byteErr {
			t.Fatalf("%q:\nwhole %q %v\nsplit %q %v\nbytes %q %v", in, whole, wholeErr, split, splitErr, bytewise, byteErr)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	in := strings.Repeat(`{"a":"`+strings.Repeat("abcdefgh é ", 100)+"\"}\n", 1000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		for r := NewReader(strings.NewReader(in), 1<<20); ; {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}
