package mcp_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func TestEquivalent(t *testing.T) {
	for _, pair := range [][2]string{
		{`null`, `null`}, {`true`, `true`}, {`""`, `""`}, {`[]`, `[ ]`}, {`{}`, "{\n}"},
		{`21.5`, `2.150e1`}, {`21.5`, `215E-1`}, {`0`, `-0`}, {`0`, `0.000`}, {`0`, `-0.0e7`}, {`0e5`, `0E-9`},
		{`100`, `1e2`}, {`100`, `1E+2`}, {`100.0`, `0.1e3`}, {`-1.10`, `-1.1`}, {`0.001`, `1e-3`}, {`1e400`, `10e399`},
		{`9007199254740993`, `9007199254740993.0`}, {`1e-2147483000`, `10e-2147483001`}, {`5e007`, `5e7`},
		{`123456789012345678901234567890`, `1.2345678901234567890123456789e29`},
		{`"a"`, `"\u0061"`}, {`"/"`, `"\/"`}, {`"😀"`, `"\ud83d\ude00"`}, {"\"\u2028\"", `"\u2028"`}, {`"\n"`, `"\u000a"`}, {`"\ud800"`, `"\uD800"`},
		{`[1,2]`, `[1.0, 2e0]`}, {`[[],{}]`, `[ [ ] , { } ]`},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`}, {`{"a":{"x":[1,{"y":-0}]}}`, `{ "\u0061" : { "x" : [ 1.0 , { "y" : 0 } ] } }`},
		{`{"":1}`, `{"":1}`}, {`{"a":1,"a":1}`, `{"a":1,"a":1}`},
		{`1e99999999999999999999`, `1e99999999999999999999`},
	} {
		if a, b := raw(t, pair[0]), raw(t, pair[1]); !mcp.Equivalent(a, b) || !mcp.Equivalent(b, a) {
			t.Errorf("%s and %s are not equivalent", a, b)
		}
	}
}

func TestNotEquivalent(t *testing.T) {
	for _, pair := range [][2]string{
		{`null`, `false`}, {`true`, `false`}, {`null`, `0`}, {`0`, `""`}, {`1`, `"1"`}, {`""`, `null`}, {`[]`, `{}`}, {`false`, `0`}, {`true`, `"true"`},
		{`1`, `-1`}, {`1`, `1.0000000000000000000000000000001`}, {`9007199254740993`, `9007199254740992`}, {`0.1`, `0.10000000000000000555`},
		{`1e400`, `1e401`}, {`1e-400`, `0`}, {`1e-400`, `1e-401`}, {`10`, `1`}, {`100`, `10`}, {`1e2`, `1e-2`}, {`12`, `21`}, {`-5`, `5`},
		{`1e99999999999999999999`, `1e99999999999999999998`}, {`1e99999999999999999999`, `1e-99999999999999999999`},
		{`10e9223372036854775807`, `1e-9223372036854775808`}, {`0.1e-9223372036854775808`, `1e9223372036854775807`},
		{`"a"`, `"A"`}, {`"a"`, `"a "`}, {`"é"`, `"e\u0301"`}, {`"1.0"`, `"1"`},
		{`[1,2]`, `[2,1]`}, {`[1]`, `[1,1]`}, {`[]`, `[null]`}, {`[[1]]`, `[1]`},
		{`{"a":1}`, `{"a":2}`}, {`{"a":1}`, `{"b":1}`}, {`{"a":1}`, `{"A":1}`}, {`{"a":1}`, `{"a":1,"b":2}`}, {`{"a":null}`, `{}`}, {`{"a":{}}`, `{"a":[]}`},
		{`{"a":1,"a":1}`, `{"a":1}`}, {`{"a":1,"a":1}`, `{"a":1,"b":2}`}, {`{"a":1,"\u0061":1}`, `{"a":1,"b":1}`}, {`{"a":1,"a":2}`, `{"a":2,"a":1}`},
		{`{"x":{"a":1,"a":1}}`, `{"x":{"a":1,"b":2}}`},
	} {
		if a, b := raw(t, pair[0]), raw(t, pair[1]); mcp.Equivalent(a, b) || mcp.Equivalent(b, a) {
			t.Errorf("%s and %s are equivalent", a, b)
		}
	}
}

// Exponents are compared as they stand, never worked out.
func TestEquivalentIsCheapForHugeNumbers(t *testing.T) {
	long := strings.Repeat("7", 1<<16)
	a, b := raw(t, long+"e999999999"), raw(t, long+".0E+999999999")
	if !mcp.Equivalent(a, b) {
		t.Error("a long number is not equivalent to itself")
	}
	if n := testing.AllocsPerRun(10, func() { mcp.Equivalent(a, b) }); n > 20 {
		t.Errorf("%v allocations", n)
	}
}

func randomNumber(r *rand.Rand) string {
	digits := []string{"0", "1", "5", "10", "15", "50", "100", "105"}
	s := []string{"", "-"}[r.IntN(2)] + digits[r.IntN(len(digits))]
	if r.IntN(2) == 0 {
		s += "." + []string{"0", "5", "50", "05", "005", "100"}[r.IntN(6)]
	}
	if r.IntN(2) == 0 {
		s += []string{"e", "E", "e+", "e-", "E-"}[r.IntN(5)] + []string{"0", "1", "01", "2", "3"}[r.IntN(5)]
	}
	return s
}

func TestEquivalentNumbersAgreeWithExactArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	equal := 0
	for range 20000 {
		a, b := randomNumber(r), randomNumber(r)
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		want := x.Cmp(y) == 0
		if want && a != b {
			equal++
		}
		if got := mcp.Equivalent(raw(t, a), raw(t, b)); got != want {
			t.Fatalf("%s and %s: %v", a, b, got)
		}
	}
	if equal < 100 {
		t.Errorf("only %d pairs were equal: the test says little", equal)
	}
}
