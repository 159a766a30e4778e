package mcp_test

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func TestCloneIsIndependent(t *testing.T) {
	for name, prepare := range map[string]func(*mcp.Object){
		"untouched": func(*mcp.Object) {},
		"opened":    func(o *mcp.Object) { o.Object("a"); o.Array("l").Object(0) },
		"changed":   func(o *mcp.Object) { o.Object("a").Set("y", mcp.Raw(`0`)); o.Array("l").Add(mcp.Raw(`1`)) },
	} {
		t.Run(name, func(t *testing.T) {
			o := object(t, `{ "a":{"x":1} , "l":[ {"k":1} ] , "s":"\ud800" }`)
			prepare(o)
			before := string(o.Raw())
			c := o.Clone()
			if string(c.Raw()) != before {
				t.Fatalf("the copy is %s; want %s", c.Raw(), before)
			}
			c.Object("a").Set("x", mcp.Raw(`2`))
			c.Array("l").Object(0).Delete("k")
			c.Delete("s")
			if string(o.Raw()) != before {
				t.Errorf("a change of the copy shows in the original: %s", o.Raw())
			}
			changed := string(c.Raw())
			o.Object("a").Set("x", mcp.Raw(`3`))
			o.Array("l").Remove(0)
			o.Set("s", mcp.Raw(`0`))
			if string(c.Raw()) != changed {
				t.Errorf("a change of the original shows in the copy: %s", c.Raw())
			}
		})
	}
}

func TestMustObject(t *testing.T) {
	if got := mcp.MustObject(` {"a": 1} `).Raw(); string(got) != `{"a": 1}` {
		t.Errorf("%s", got)
	}
	for _, text := range []string{``, `[]`, `{"a":1`, `null`} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is taken for an object", text)
				}
			}()
			mcp.MustObject(text)
		}()
	}
}

func TestParseWrongTypes(t *testing.T) {
	for _, text := range []string{`null`, `1`, `"{"`, `[]`, `true`} {
		if o, ok := mcp.ParseObject(raw(t, text)); ok || o != nil {
			t.Errorf("%s is taken for an object", text)
		}
	}
	for _, text := range []string{`null`, `1`, `"["`, `{}`, `true`} {
		if a, ok := mcp.ParseArray(raw(t, text)); ok || a != nil {
			t.Errorf("%s is taken for an array", text)
		}
	}
}
