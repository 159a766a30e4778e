package mcp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// longest is how long an id may be, quotes included.
const longest = 1024

// Report 95 lists the ids that peers use; each is echoed byte for byte.
func TestParseIDKeepsTheToken(t *testing.T) {
	for _, text := range []string{
		`0`, `1`, `-7`, `-0`, `9007199254740993`, `1.0`, `1e3`, `1E+3`, `10e-1`, `-0.0e-5`, `100.00e-2`, `1e1024`,
		`"1"`, `""`, `"a b"`, `"\u0061"`, `"null"`, `"\ud800"`, `"é"`, `"2.5"`, "\"\u2028\"",
		`123456789012345678901234567890`, strings.Repeat("9", longest),
		`"` + strings.Repeat("x", longest-2) + `"`,
	} {
		id, ok := mcp.ParseID(raw(t, text))
		if !ok || id.IsZero() || id.String() != text || string(id.Raw()) != text {
			t.Errorf("%.60s: %q, %v", text, id, ok)
		}
	}
}

// Reports 95 and 97; P10; basic "Requests".
func TestParseIDRefuses(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `{}`, `[]`, `[1]`, `{"id":1}`, `2.5`, `1.5`, `-0.1`, `1e-1`, `15e-1`, `1.05e1`,
		`"` + strings.Repeat("x", longest-1) + `"`, strings.Repeat("9", longest+1), strings.Repeat("1", longest) + ".0",
		// Short tokens that stand for millions of digits.
		`1e1025`, `1e999999999`, `-1e999999999`, `1e-999999999`, `0e999999999`, `1e99999999999999999999`, `1E+9223372036854775808`,
	} {
		if id, ok := mcp.ParseID(raw(t, text)); ok || !id.IsZero() {
			t.Errorf("%.60s is taken as %.60q", text, id)
		}
	}
	if _, ok := mcp.ParseID(nil); ok {
		t.Error("an absent id is taken")
	}
}

// The longest number that fits is still handled at once.
func TestHostileExponents(t *testing.T) {
	id := parseID(t, strings.Repeat("9", longest-len("e1024"))+"e1024")
	if n := len(id.Key()); n > 2*longest+1 {
		t.Errorf("a key of %d bytes", n)
	}
	if _, ok := mcp.ParseID(raw(t, "1."+strings.Repeat("0", longest-10)+"1e900")); ok {
		t.Error("a fraction is taken")
	}
}

// T51, T62: 5 and 5.0 are equal, 5 and "5" are not.
func TestIDEquality(t *testing.T) {
	classes := [][]string{
		{`5`, `5.0`, `50e-1`, `0.5e1`, `5E0`, `5.00e+0`},
		{`"5"`, `"\u0035"`},
		{`"5.0"`},
		{`0`, `-0`, `0.0`, `0e10`, `-0.0`},
		{`""`},
		{`"0"`},
		{`1000`, `1e3`, `1E3`, `1.0e3`},
		{`"1e3"`},
		{`-7`, `-7.0`},
		{`7`},
		{`9007199254740993`, `9007199254740993.0`},
		{`9007199254740992`},
		{`"n5"`}, {`"s5"`},
		{`"a"`, `"\u0061"`}, {`"A"`},
	}
	type named struct {
		text  string
		class int
	}
	var all []named
	for i, class := range classes {
		for _, text := range class {
			all = append(all, named{text, i})
		}
	}
	for _, a := range all {
		for _, b := range all {
			x, y, want := parseID(t, a.text), parseID(t, b.text), a.class == b.class
			if x.Equal(y) != want || (x.Key() == y.Key()) != want {
				t.Errorf("%s and %s: Equal = %v, keys %q %q", x, y, x.Equal(y), x.Key(), y.Key())
			}
		}
	}
}

func TestZeroID(t *testing.T) {
	var zero mcp.ID
	if !zero.IsZero() || zero.Key() != "" || zero.String() != "" || len(zero.Raw()) != 0 || !zero.Equal(mcp.ID{}) {
		t.Errorf("%q", zero)
	}
	for _, text := range []string{`0`, `""`, `-0`} {
		if id := parseID(t, text); id.IsZero() || id.Equal(zero) || zero.Equal(id) || id.Key() == "" {
			t.Errorf("%s is taken for no id", text)
		}
	}
}

func TestMadeIDs(t *testing.T) {
	for want, id := range map[string]mcp.ID{
		`0`:                    mcp.IntID(0),
		`-9223372036854775808`: mcp.IntID(-1 << 63),
		`9007199254740993`:     mcp.IntID(9007199254740993),
		`""`:                   mcp.TextID(""),
		`"a\"b\n"`:             mcp.TextID("a\"b\n"),
		`"1"`:                  mcp.TextID("1"),
	} {
		if id.String() != want || !id.Equal(parseID(t, want)) {
			t.Errorf("%s; want %s", id, want)
		}
	}
}

func TestIDInt(t *testing.T) {
	for text, want := range map[string]int64{
		`0`: 0, `-0`: 0, `7`: 7, `-7`: -7, `9223372036854775807`: 1<<63 - 1,
	} {
		if n, ok := parseID(t, text).Int(); !ok || n != want {
			t.Errorf("%s: %d, %v", text, n, ok)
		}
	}
	for _, text := range []string{`"7"`, `""`, `9223372036854775808`, `1e3`, `1.0`} {
		if n, ok := parseID(t, text).Int(); ok {
			t.Errorf("%s: %d", text, n)
		}
	}
	if _, ok := (mcp.ID{}).Int(); ok {
		t.Error("no id has a value")
	}
}

func FuzzParseID(f *testing.F) {
	for _, s := range []string{`1`, `"a"`, `1.0`, `1e3`, `2.5`, `-0`, `1e-999999999`, `"\ud800"`, `{}`, `99e-2`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := mcp.ParseRaw(b)
		if err != nil {
			return
		}
		id, ok := mcp.ParseID(r)
		if !ok {
			if r.IsString() && len(r) <= longest {
				t.Fatalf("the string %s is refused", r)
			}
			return
		}
		if !slices.Equal(id.Raw(), r) || !id.Equal(id) || id.Key() == "" || len(id.Key()) > 3*longest {
			t.Fatalf("%s: key %q", r, id.Key())
		}
		if key := id.Key(); !r.IsString() && len(key) <= longest && !parseID(t, key[1:]).Equal(id) {
			t.Fatalf("%s: the key %s has another value", r, key)
		}
	})
}

// A server that writes the number 7 as a text means the request 7, and nothing
// else that looks like it.
func TestIDAnswers(t *testing.T) {
	for _, tc := range []struct {
		answer, request string
		want            bool
	}{
		{`7`, `7`, true}, {`7.0`, `7`, true}, {`"7"`, `7`, true}, {`"-7"`, `-7`, true}, {`"\u0037"`, `7`, true}, {`"7"`, `"7"`, true},
		{`7`, `"7"`, false}, {`"07"`, `7`, false}, {`"7.0"`, `7`, false}, {`" 7"`, `7`, false}, {`"+7"`, `7`, false}, {`"8"`, `7`, false}, {`""`, `0`, false},
	} {
		if got := parseID(t, tc.answer).Answers(parseID(t, tc.request)); got != tc.want {
			t.Errorf("%s answers %s: %v", tc.answer, tc.request, got)
		}
	}
	if (mcp.ID{}).Answers(mcp.IntID(0)) || !(mcp.ID{}).Unquoted().IsZero() {
		t.Error("an absent id answers something")
	}
}
