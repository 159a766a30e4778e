package mcp_test

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func TestArrayAccess(t *testing.T) {
	const text = `[ 1.10, "a" ,{ "b":1 },[ ] , null ]`
	a := array(t, text)
	want := []string{`1.10`, `"a"`, `{ "b":1 }`, `[ ]`, `null`}
	if a.Len() != len(want) {
		t.Fatalf("%d elements", a.Len())
	}
	for i, w := range want {
		if got := a.At(i); string(got) != w {
			t.Errorf("element %d: %s", i, got)
		}
		if child := a.Object(i); (child != nil) != (i == 2) || child != a.Object(i) {
			t.Errorf("element %d opens as %v", i, child)
		}
	}
	if got := a.Raw(); string(got) != text {
		t.Errorf("looking changed it to %s", got)
	}
	var none *mcp.Array
	if none.Len() != 0 || array(t, `[ ]`).Len() != 0 || mcp.NewArray().Len() != 0 {
		t.Error("an empty array has elements")
	}
}

func TestArrayEdits(t *testing.T) {
	one := mcp.Raw(`1`)
	for name, tc := range map[string]struct {
		before string
		change func(*mcp.Array)
		after  string
	}{
		"add":             {`[ ]`, func(a *mcp.Array) { a.Add(one); a.Add(one) }, `[1,1]`},
		"add after":       {`[ "a" , [ ] ]`, func(a *mcp.Array) { a.Add(one) }, `["a",[ ],1]`},
		"set":             {`[0,"\ud800",0]`, func(a *mcp.Array) { a.Set(2, one) }, `[0,"\ud800",1]`},
		"remove first":    {`[0,1,2]`, func(a *mcp.Array) { a.Remove(0) }, `[1,2]`},
		"remove last":     {`[0,1,2]`, func(a *mcp.Array) { a.Remove(2) }, `[0,1]`},
		"remove all":      {`[0]`, func(a *mcp.Array) { a.Remove(0) }, `[]`},
		"child":           {`[ { "a" : 1 } , { "a" : 1 } ]`, func(a *mcp.Array) { a.Object(1).Set("a", mcp.Raw(`2`)) }, `[{ "a" : 1 },{"a":2}]`},
		"child moves":     {`[0,{}]`, func(a *mcp.Array) { c := a.Object(1); a.Remove(0); c.Set("a", one) }, `[{"a":1}]`},
		"child goes":      {`[{},0]`, func(a *mcp.Array) { c := a.Object(0); a.Remove(0); c.Set("a", one) }, `[0]`},
		"child replaced":  {`[{}]`, func(a *mcp.Array) { c := a.Object(0); a.Set(0, one); c.Set("a", one) }, `[1]`},
		"new child":       {`[]`, func(a *mcp.Array) { c := mcp.NewObject(); a.AddObject(c); c.Set("a", one) }, `[{"a":1}]`},
		"new child as is": {`[0]`, func(a *mcp.Array) { a.SetObject(0, mcp.MustObject(`{ "a" : 1 }`)) }, `[{ "a" : 1 }]`},
		"new child again": {`[0]`, func(a *mcp.Array) { a.SetObject(0, mcp.NewObject()); a.Object(0).Set("a", one) }, `[{"a":1}]`},
		"no change":       {`[ 0 ]`, func(a *mcp.Array) { a.Object(0) }, `[ 0 ]`},
	} {
		t.Run(name, func(t *testing.T) {
			o := object(t, `{"l":`+tc.before+`}`)
			a := o.Array("l")
			tc.change(a)
			if got := a.Raw(); string(got) != tc.after {
				t.Errorf("%s; want %s", got, tc.after)
			}
			if got := o.Raw(); string(got) != `{"l":`+tc.after+`}` || o.Size() != len(got) {
				t.Errorf("around it: %s; size %d", got, o.Size())
			}
			for i := range a.Len() {
				if got := a.At(i); string(got) != string(array(t, tc.after).At(i)) {
					t.Errorf("element %d: %s", i, got)
				}
			}
		})
	}
}
