package mcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// deepest is how far values may nest; encoding/json allows 10,000.
const deepest = 1024

func nested(n int, open, inner, end string) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

func TestParseRawAccepts(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `""`, `"a"`, `[]`, `{}`, `[[[]]]`, `[{},[]]`, `[1,"2",null,true,false,{"a":[]}]`,
		`0`, `-0`, `1`, `-1`, `10`, `1.5`, `-1.50`, `0.0`, `1e5`, `1E5`, `1e+5`, `1E-05`, `-0.0e-0`, `1e400`, `1.10`,
		`9007199254740993`, `123456789012345678901234567890`, strings.Repeat("9", 5000),
		`{"a":1}`, `{"a":1,"b":2}`, `{"a":1,"a":2}`, `{"":""}`, `{"\u0061":{"b":[{"c":null}]}}`,
		`"\"\\\/\b\f\n\r\t"`, `"\u0000"`, `"\u00e9\u00E9"`, `"\ud83d\ude00"`, `"\\"`, `"\\\\\""`,
		`"\ud800"`, `"\udc00\ud800"`, `"\ud800x"`, // lone surrogates: T56
		"\"\x7f\"", "\"é\"", "\"\u2028\u2029\u0085\"", "\"😀\"", "\"\ufeff\"", "\"\ufffd\"",
		nested(deepest, "[", "", "]"), nested(deepest, `{"a":`, "1", "}"), nested(deepest/2, `[{"a":`, "0", "}]"),
		"[" + strings.Repeat("[],", 5000) + "[]]", // wide is not deep
	} {
		got, err := mcp.ParseRaw([]byte(text))
		if err != nil || string(got) != text {
			t.Errorf("ParseRaw(%.60q) = %.60q, %v", text, got, err)
		}
		if !json.Valid([]byte(text)) {
			t.Errorf("encoding/json disagrees about %.60q", text)
		}
	}
}

func TestParseRawTrimsWhitespaceAround(t *testing.T) {
	for text, want := range map[string]string{
		" 1":                          `1`,
		"\t\r\n {} \n":                `{}`,
		"\n[ 1 ,\t2 ]\r\n":            "[ 1 ,\t2 ]",
		" { \"a\" : [ ] , \"b\":\n1}": "{ \"a\" : [ ] , \"b\":\n1}",
	} {
		if got, err := mcp.ParseRaw([]byte(text)); err != nil || string(got) != want {
			t.Errorf("ParseRaw(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

// fault is a text that is not JSON, and where that shows.
type fault struct {
	text string
	at   int
}

func structureFaults() []fault {
	return []fault{
		{``, 0}, {` `, 1}, {`[`, 1}, {`{`, 1}, {`]`, 0}, {`}`, 0}, {`,`, 0}, {`:`, 0},
		{`[1`, 2}, {`[1,`, 3}, {`[1,]`, 3}, {`[,1]`, 1}, {`[1 2]`, 3}, {`[1}`, 2}, {`[[]`, 3}, {`[1,,2]`, 3}, {`["a":1]`, 4},
		{`{"a"`, 4}, {`{"a":`, 5}, {`{"a":1`, 6}, {`{"a":1,`, 7}, {`{"a":1,}`, 7}, {`{,}`, 1}, {`{"a" 1}`, 5}, {`{"a":}`, 5},
		{`{a:1}`, 1}, {`{1:1}`, 1}, {`{"a":1 "b":2}`, 7}, {`{"a":1]`, 6}, {`{"a"}`, 4}, {`{"a":1,"b"}`, 10}, {`{"a":1,1}`, 7}, {`{null:1}`, 1},
		{`{}{}`, 2}, {`1 2`, 2}, {`null null`, 5}, {"{}\n{}", 3}, {`[] x`, 3}, {"{}\x00", 2}, {"\x001", 0},
		{"\ufeff{}", 0}, {"\u00a01", 0}, {"\v1", 0}, {"\f1", 0}, {"// x\n1", 0}, {"1/**/", 1},
	}
}

func scalarFaults() []fault {
	return []fault{
		{`nul`, 0}, {`nulll`, 4}, {`Null`, 0}, {`tru`, 0}, {`True`, 0}, {`fals`, 0}, {`falsey`, 5}, {`NaN`, 0}, {`Infinity`, 0}, {`-Infinity`, 0}, {`undefined`, 0},
		{`01`, 0}, {`-01`, 0}, {`00`, 0}, {`-`, 0}, {`--1`, 0}, {`+1`, 0}, {`.5`, 0}, {`1.`, 2}, {`1.e5`, 2}, {`1e`, 2}, {`1e+`, 3}, {`1E-`, 3},
		{`1.5.5`, 3}, {`0x10`, 1}, {`1_000`, 1}, {`1a`, 1}, {`[01]`, 1}, {`[-]`, 1}, {`1e5.5`, 3}, {`-a`, 0}, {`1,5`, 1},
		{`"`, 1}, {`"a`, 2}, {`'a'`, 0}, {`"\`, 1}, {`"\"`, 3}, {`"\x"`, 1}, {`"\'"`, 1}, {`"\0"`, 1}, {`"\U0041"`, 1},
		{`"\u"`, 1}, {`"\u12"`, 1}, {`"\u123g"`, 1}, {`"\u00`, 1}, {`"\u 123"`, 1}, {`"\u+123"`, 1}, {`"a"b"`, 3},
		{"\"\n\"", 1}, {"\"a\tb\"", 2}, {"\"\x00\"", 1}, {"\"\x1f\"", 1}, {"\"\r\"", 1}, {"{\"a\nb\":1}", 3}, {"\"\\\n\"", 1},
	}
}

func TestParseRawRejects(t *testing.T) {
	for _, tc := range append(structureFaults(), scalarFaults()...) {
		got, err := mcp.ParseRaw([]byte(tc.text))
		var syntax *mcp.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("ParseRaw(%q) = %q, %v; want a SyntaxError", tc.text, got, err)
			continue
		}
		if syntax.Offset != tc.at || syntax.Reason == "" {
			t.Errorf("ParseRaw(%q): %v; want it at byte %d", tc.text, err, tc.at)
		}
		if json.Valid([]byte(tc.text)) {
			t.Errorf("encoding/json takes %q", tc.text)
		}
	}
}

func TestParseRawRejectsWhatIsNotUTF8(t *testing.T) {
	for _, text := range []string{
		"\"\xff\"", "\"\xc3\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "{\"\x80\":1}", "[1]\xff", "\xff[1]",
	} {
		if got, err := mcp.ParseRaw([]byte(text)); err == nil {
			t.Errorf("ParseRaw(%q) = %q", text, got)
		}
	}
}

func TestParseRawDepth(t *testing.T) {
	for name, text := range map[string]string{
		"arrays":       nested(deepest+1, "[", "", "]"),
		"objects":      nested(deepest+1, `{"a":`, "1", "}"),
		"mixed":        nested(deepest/2, `[{"a":`, "[]", "}]"),
		"unclosed":     strings.Repeat("[", 1<<20),
		"after depth":  "[" + nested(deepest-1, "[", "", "]") + "," + nested(deepest, "[", "", "]") + "]",
		"as json goes": nested(10000, "[", "", "]"),
	} {
		_, err := mcp.ParseRaw([]byte(text))
		if err == nil || !strings.Contains(err.Error(), "deeper than 1024") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text := nested(10000, "[", "", "]"); !json.Valid([]byte(text)) {
		t.Error("encoding/json does not nest as deep as it did")
	}
}

func TestSyntaxErrorText(t *testing.T) {
	_, err := mcp.ParseRaw([]byte(`{"a":1,}`))
	if want := "not JSON at byte 7: a member name is missing"; err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

// depth returns how deep the containers of valid JSON nest.
func depth(text []byte) (deepest int) {
	at, inside := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			at++
			deepest = max(deepest, at)
		case c == '}' || c == ']':
			at--
		}
	}
	return deepest
}

// The scanner and encoding/json are of one opinion, but for UTF-8 and depth.
func FuzzParseRaw(f *testing.F) {
	for _, tc := range append(structureFaults(), scalarFaults()...) {
		f.Add([]byte(tc.text))
	}
	f.Add([]byte(` {"a":[1.10,-0,1e400,"\ud800",null,true],"b":{"c":"<&>\u2028"}} `))
	f.Add([]byte(nested(deepest+1, "[", "", "]")))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := mcp.ParseRaw(b)
		want := json.Valid(b) && utf8.Valid(b) && depth(b) <= deepest
		if (err == nil) != want {
			t.Fatalf("ParseRaw: %v; valid = %v", err, want)
		}
		if err != nil {
			return
		}
		if trimmed := bytes.Trim(b, " \t\r\n"); !bytes.Equal(r, trimmed) {
			t.Fatalf("ParseRaw = %q", r)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, b); err != nil || compact.String() != string(r.Compact()) {
			t.Fatalf("Compact = %q; want %q, %v", r.Compact(), compact.String(), err)
		}
	})
}

// Values end where they end, whatever stands behind them.
func TestValueEnds(t *testing.T) {
	for n := range 12 {
		value := `"` + strings.Repeat(`\\`, n) + `\"]}` + strings.Repeat(`\\`, n) + `"`
		for _, space := range []string{"", " ", "\n", "\t", "\r", "\r\n \t"} {
			for _, v := range []string{value, `-1.5e+3`, `true`, `null`, `[` + space + `]`, `{` + value + `:[{}]}`} {
				o := object(t, `{`+value+space+`:`+space+v+space+`,`+space+`"z"`+space+`:`+space+v+space+`}`)
				name, _ := raw(t, value).Text()
				first, _ := o.Get(name)
				second, _ := o.Get("z")
				list := array(t, `[`+space+v+space+`,`+space+v+space+`]`)
				if o.Len() != 2 || string(first) != v || string(second) != v || list.Len() != 2 || string(list.At(0)) != v || string(list.At(1)) != v {
					t.Fatalf("%q in %s and %s", v, o.Raw(), list.Raw())
				}
			}
		}
	}
}
