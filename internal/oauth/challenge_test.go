package oauth

import (
	"fmt"
	"strings"
	"testing"
)

// show writes what was read so that a test can name it in one line.
func show(all []Challenge) string {
	var parts []string
	for _, c := range all {
		text := c.Scheme
		if c.Token68 != "" {
			text += " <" + c.Token68 + ">"
		}
		for _, p := range c.Params {
			text += fmt.Sprintf(" %s=[%s]", p.Name, p.Value)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " | ")
}

// RFC 9110, 11.6.1 and 5.6.
func TestParseChallenges(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"scheme alone":           {"Negotiate", "Negotiate"},
		"quoted":                 {`Bearer realm="a b", scope="x y"`, "Bearer realm=[a b] scope=[x y]"},
		"tokens":                 {"Bearer error=invalid_token,scope=x", "Bearer error=[invalid_token] scope=[x]"},
		"blanks around equals":   {"Bearer realm = \"a\" ,\tscope\t= x ", "Bearer realm=[a] scope=[x]"},
		"escapes":                {`Basic realm="a\"b\\c\d"`, `Basic realm=[a"b\cd]`},
		"comma in quotes":        {`Bearer a="x, Basic y=z", b=c`, "Bearer a=[x, Basic y=z] b=[c]"},
		"empty value":            {`Bearer realm=""`, "Bearer realm=[]"},
		"obs-text":               {"Bearer realm=\"\xfc\"", "Bearer realm=[\xfc]"},
		"token68":                {"Negotiate YWJj+/-._~==", "Negotiate <YWJj+/-._~==>"},
		"token68, one =":         {"Negotiate a=", "Negotiate <a=>"},
		"several":                {`Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple"`, `Newauth realm=[apps] type=[1] title=[Login to "apps"] | Basic realm=[simple]`},
		"several, of all kinds":  {`Negotiate, Bearer a=b, Custom abc==, Basic realm=x`, "Negotiate | Bearer a=[b] | Custom <abc==> | Basic realm=[x]"},
		"same scheme twice":      {`Bearer a=1, Bearer a=2`, "Bearer a=[1] | Bearer a=[2]"},
		"empty elements":         {`, ,Bearer a=1,, ,b=2,`, "Bearer a=[1] b=[2]"},
		"many spaces":            {`Bearer    a=1`, "Bearer a=[1]"},
		"scheme, trailing space": {"Bearer  ", "Bearer"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseChallenges(c.in)
			if err != nil || show(got) != c.want {
				t.Fatalf("%q is %s, %v; want %s", c.in, show(got), err, c.want)
			}
			for i := range got {
				again, err := ParseChallenges(got[i].String())
				if err != nil || show(again) != show(got[i:i+1]) {
					t.Errorf("%q reads as %s, %v", got[i].String(), show(again), err)
				}
			}
		})
	}
}

func TestParseChallengesMalformed(t *testing.T) {
	for name, in := range map[string]string{
		"nothing":               "",
		"commas":                " , ,",
		"unquoted URL":          "Bearer resource_metadata=https://a/b",
		"open quote":            `Bearer a="b`,
		"open escape":           `Bearer a="b\`,
		"line end in quotes":    "Bearer a=\"b\r\nX-Evil: 1\"",
		"escaped line end":      "Bearer a=\"b\\\nX\"",
		"no value":              "Bearer a=,b=c",
		"no value at the end":   "Bearer a=\"1\", b=",
		"parameter first":       "a=b",
		"parameter twice":       `Bearer scope=a, Scope=b`,
		"no comma":              `Bearer a=b c=d`,
		"text behind a quote":   `Bearer a="b"c`,
		"two words":             "Bearer a b",
		"token68 and parameter": "Bearer abc==, a=b",
		"no scheme":             `"Bearer"`,
		"tab behind the scheme": "Bearer\ta=b",
		"scheme with colon":     "Bear:er",
		"too long":              "Bearer a=" + strings.Repeat("b", maxChallenge),
	} {
		if got, err := ParseChallenges(in); err == nil {
			t.Errorf("%s: %.60q is read as %.100s", name, in, show(got))
		}
	}
}

// What cannot stand in a header is not written.
func TestChallengeStringIsOneLine(t *testing.T) {
	c := Challenge{Scheme: "Bearer", Params: []Param{{Name: "a", Value: "x\r\nSet-Cookie: b\x00\x7f"}}}
	if got := c.String(); got != `Bearer a="xSet-Cookie: b"` {
		t.Errorf("%q", got)
	}
}

func FuzzChallenges(f *testing.F) {
	for _, seed := range []string{
		`Bearer resource_metadata="https://a/b", scope="x"`, `Negotiate abc==, Bearer`, `Bearer a="\"", DPoP b=c`, `,Bearer a = b,`,
		`Bearer resource_metadata="x", Bearer resource_metadata=y, error="z"`, "Bearer a=\"b\\\n\"", `Bearer a=`, "Digest a=b,=",
	} {
		f.Add(seed)
	}
	const to = "https://bridge.example/.well-known/oauth-protected-resource/mcp"
	f.Fuzz(func(t *testing.T, in string) {
		got, err := ParseChallenges(in)
		v := value{in, got}
		moved, found := v.pointedTo(to)
		extended, isExtended := v.extended(to)
		if err != nil {
			if found || isExtended || moved != in || extended != in {
				t.Fatalf("%q cannot be read and becomes %q, %q", in, moved, extended)
			}
			return
		}
		for i := range got {
			again, err := ParseChallenges(got[i].String())
			if err != nil || show(again) != show(got[i:i+1]) {
				t.Fatalf("%q is written as %q, which reads as %s, %v", in, got[i].String(), show(again), err)
			}
		}
		checkMoved(t, got, moved, to)
		if isExtended {
			checkExtended(t, got, extended, to)
		}
	})
}

// checkMoved holds that pointers were replaced and nothing else was touched.
func checkMoved(t *testing.T, before []Challenge, moved, to string) {
	t.Helper()
	want := make([]Challenge, len(before))
	for i, c := range before {
		want[i] = c
		want[i].Params = append([]Param(nil), c.Params...)
		if p := want[i].param(resourceMetadata); p != nil {
			p.Value = to
		}
	}
	if after, err := ParseChallenges(moved); len(moved) <= maxChallenge && (err != nil || show(after) != show(want)) {
		t.Fatalf("%q reads as %s, %v; want %s", moved, show(after), err, show(want))
	}
}

func checkExtended(t *testing.T, before []Challenge, extended, to string) {
	t.Helper()
	after, err := ParseChallenges(extended)
	for i := range before {
		if _, has := before[i].Param(resourceMetadata); has && before[i].Is(bearer) {
			return // such a value is never extended
		}
	}
	if len(extended) > maxChallenge {
		return
	}
	if err != nil || len(after) != len(before) {
		t.Fatalf("%q reads as %s, %v", extended, show(after), err)
	}
	n := 0
	for i := range after {
		if _, had := before[i].Param(resourceMetadata); had {
			continue
		}
		if got, has := after[i].Param(resourceMetadata); has && got == to && after[i].Is(bearer) {
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%q has %d pointers", extended, n)
	}
}
