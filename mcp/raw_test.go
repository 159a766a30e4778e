package mcp_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func TestRawTypes(t *testing.T) {
	for text, want := range map[string][4]bool{ // null, object, array, string
		`null`: {true, false, false, false},
		`{}`:   {false, true, false, false},
		`[]`:   {false, false, true, false},
		`"{"`:  {false, false, false, true},
		`0`:    {},
		`true`: {},
		``:     {},
	} {
		r := mcp.Raw(text)
		if got := [4]bool{r.IsNull(), r.IsObject(), r.IsArray(), r.IsString()}; got != want {
			t.Errorf("%q: %v; want %v", text, got, want)
		}
	}
}

func TestRawText(t *testing.T) {
	for text, want := range map[string]string{
		`""`:                    "",
		`"plain"`:               "plain",
		`"tools\/call"`:         "tools/call", // report 182
		`"\u006dethod"`:         "method",
		`"\"\\\b\f\n\r\t"`:      "\"\\\b\f\n\r\t",
		`"\ud83d\ude00"`:        "😀",
		`"é\u00e9"`:             "éé",
		`"\u0000"`:              "\x00",
		`"\ud800"`:              "\ufffd",
		`"a\udc00b"`:            "a\ufffdb",
		"\"\u2028\"":            "\u2028",
		`"9007199254740993"`:    "9007199254740993",
		`"ends in \\"`:          `ends in \`,
		`"ends in a \\quote\""`: `ends in a \quote"`,
	} {
		r := raw(t, text)
		if got, ok := r.Text(); !ok || got != want {
			t.Errorf("%s: Text = %q, %v; want %q", text, got, ok, want)
		}
		if !r.Is(want) || r.Is(want+"x") || want != "" && r.Is("") {
			t.Errorf("%s: Is is wrong", text)
		}
	}
	for _, text := range []string{`null`, `1`, `true`, `{}`, `[]`, `["a"]`, ``} {
		if got, ok := mcp.Raw(text).Text(); ok || got != "" {
			t.Errorf("%q: Text = %q, %v", text, got, ok)
		}
		if mcp.Raw(text).Is(text) || mcp.Raw(text).Is("") {
			t.Errorf("%q is taken for a string", text)
		}
	}
}

func TestIsAllocatesNothing(t *testing.T) {
	r := raw(t, `"notifications/progress"`)
	if n := testing.AllocsPerRun(100, func() { _ = r.Is("notifications/progress") && !r.Is("ping") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCompact(t *testing.T) {
	for text, want := range map[string]string{
		"[ 1 , 2 ]":                           `[1,2]`,
		"{\r\n\t\"a b\" : \" c\\t d \" }":     `{"a b":" c\t d "}`,
		`{"a" :"\\" , "b":"\\\" [ , "}`:       `{"a":"\\","b":"\\\" [ , "}`,
		`" "`:                                 `" "`,
		`[1.10, -0, 1e400, 9007199254740993]`: `[1.10,-0,1e400,9007199254740993]`, // reports 16, 121
		"[\"\u2028 <&>\", \"\\ud800 \"]":      "[\"\u2028 <&>\",\"\\ud800 \"]",
		`[ ]`:                                 `[]`,
		"{\n}":                                `{}`,
	} {
		if got := raw(t, text).Compact(); string(got) != want {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
	r := raw(t, `{"a":[1,2]}`)
	if got := r.Compact(); &got[0] != &r[0] {
		t.Error("what is compact is copied")
	}
	before := raw(t, `[1, 2]`)
	before.Compact()
	if string(before) != `[1, 2]` {
		t.Errorf("Compact changed its receiver to %s", before)
	}
}

// controls returns text with all characters that need care in a JSON string.
func controls() string {
	var b []byte
	for c := range byte(0x80) {
		b = append(b, c)
	}
	return string(b) + "é\u0085\u2027\u2028\u2029\u202a\ufeff\ufffd😀<a&b>/\\\\\"\""
}

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"":               `""`,
		"<a&b>":          `"<a&b>"`,
		"\u2028\u2029":   `"\u2028\u2029"`,
		"\u2027\u202a":   "\"\u2027\u202a\"",
		"\n\r\t\b\f\x00": `"\n\r\t\u0008\u000c\u0000"`,
		`a"b\c`:          `"a\"b\\c"`,
		"/\x7fé😀":        "\"/\x7fé😀\"",
		"\xff":           "\"\ufffd\"",
	} {
		if got := mcp.Quote(s); string(got) != want {
			t.Errorf("Quote(%q) = %s; want %s", s, got, want)
		}
	}
	var back string
	quoted := raw(t, string(mcp.Quote(controls())))
	if err := json.Unmarshal(quoted, &back); err != nil || back != controls() {
		t.Errorf("%q, %v", back, err)
	}
	if bytes.Contains(quoted, []byte("\u2028")) || bytes.Contains(quoted, []byte("\u2029")) {
		t.Error("a line separator is not escaped")
	}
}

// Structured content becomes text byte for byte (decision 2; report 121).
func TestQuoteRaw(t *testing.T) {
	for _, text := range []string{
		`{"answer":42}`,
		`{"id":9007199254740993,"x":6e+19,"y":0.1000}`,
		`["\ud800","\\","\"","\n\/",null]`,
		"[\n\t1,\r\n 2]",
		"[\"\u2028\u2029é😀<&>\x7f\"]",
		string(mcp.Quote(controls())),
		`null`,
	} {
		quoted := raw(t, string(mcp.QuoteRaw(raw(t, text))))
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || back != text {
			t.Errorf("%q comes back as %q, %v", text, back, err)
		}
		if got, ok := quoted.Text(); !ok || got != text {
			t.Errorf("%q: Text = %q, %v", text, got, ok)
		}
	}
	if got := mcp.QuoteRaw(mcp.Raw(`{"a":"b"}`)); string(got) != `"{\"a\":\"b\"}"` {
		t.Errorf("%s", got)
	}
}

func FuzzQuote(f *testing.F) {
	f.Add(controls())
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(raw(t, string(mcp.Quote(s))), &back); err != nil || back != string([]rune(s)) {
			t.Fatalf("Quote(%q) comes back as %q, %v", s, back, err)
		}
		r, err := mcp.ParseRaw([]byte(s))
		if err != nil {
			return
		}
		if err := json.Unmarshal(raw(t, string(mcp.QuoteRaw(r))), &back); err != nil || back != string(r) {
			t.Fatalf("QuoteRaw(%q) comes back as %q, %v", r, back, err)
		}
	})
}

func TestStrings(t *testing.T) {
	for want, ss := range map[string][]string{
		`[]`:             nil,
		`[""]`:           {""},
		`["a","b\"\n,"]`: {"a", "b\"\n,"},
	} {
		if got := mcp.Strings(ss); string(got) != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
}
