package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// busy holds everything that a decode into Go values would change (P7, T56).
const busy = `{ "z" : 1.10,"a":[ 1e400 , -0,9007199254740993 ],"\u0061b":"\ud800|\ud83d\ude00|\u0000|\u2028|<a&b>|\/",` +
	"\n\t" + `"dup":1,"dup":{"dup":2},"":null,"o":{ "in" : { "n":[ ] } },"l":[ { "k":1 } ,[ ],"s"]}`

func TestUntouchedObjectsStayAsTheyCame(t *testing.T) {
	o := object(t, busy)
	o.Get("z")
	o.Has("nothing")
	o.Len()
	o.Text("z")
	o.Duplicate()
	o.Object("o").Object("in").Array("n").Len()
	o.Array("l").Object(0).Get("k")
	o.Object("a")
	o.Array("o")
	o.Delete("nothing")
	o.Each(func(string, mcp.Raw) bool { return true })
	if got := o.Raw(); string(got) != busy || &got[0] != &o.Raw()[0] {
		t.Errorf("%s", got)
	}
	if got := string(o.Append([]byte("x"))); got != "x"+busy || o.Size() != len(busy) {
		t.Errorf("%s, size %d", got, o.Size())
	}
}

func TestGet(t *testing.T) {
	o := object(t, busy)
	for name, want := range map[string]string{
		"z": `1.10`, "a": `[ 1e400 , -0,9007199254740993 ]`, "dup": `{"dup":2}`, "": `null`, "l": `[ { "k":1 } ,[ ],"s"]`,
		"ab": `"\ud800|\ud83d\ude00|\u0000|\u2028|<a&b>|\/"`, "o": `{ "in" : { "n":[ ] } }`,
	} {
		if got, ok := o.Get(name); !ok || string(got) != want || !o.Has(name) {
			t.Errorf("%q: %s, %v", name, got, ok)
		}
	}
	for _, name := range []string{"Z", "A", "in", "k", "z ", `\u0061b`, "dup\x00"} {
		if got, ok := o.Get(name); ok || got != nil || o.Has(name) {
			t.Errorf("%q: %s", name, got)
		}
	}
	if o.Len() != 8 || object(t, `{}`).Len() != 0 || object(t, "{ \n}").Len() != 0 {
		t.Errorf("%d members", o.Len())
	}
}

func TestTypedGet(t *testing.T) {
	o := object(t, `{"s":"a\/b","n":1,"o":{},"l":[],"null":null}`)
	if got := []string{o.Text("s"), o.Text("n"), o.Text("o"), o.Text("no")}; !slices.Equal(got, []string{"a/b", "", "", ""}) {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"s", "n", "l", "null", "no"} {
		if o.Object(name) != nil {
			t.Errorf("%s is opened as an object", name)
		}
	}
	for _, name := range []string{"s", "n", "o", "null", "no"} {
		if o.Array(name) != nil {
			t.Errorf("%s is opened as an array", name)
		}
	}
	child, list := o.Object("o"), o.Array("l")
	if child == nil || child != o.Object("o") || list == nil || list != o.Array("l") {
		t.Error("a child is opened twice")
	}
}

// edit is a change to an object and what the object is then.
type edit struct {
	before string
	change func(*mcp.Object)
	after  string
}

func set(name, value string) func(*mcp.Object) {
	return func(o *mcp.Object) { o.Set(name, mcp.Raw(value)) }
}

func remove(name string) func(*mcp.Object) { return func(o *mcp.Object) { o.Delete(name) } }

func flatEdits() []edit {
	return []edit{
		{`{}`, set("a", `1.10`), `{"a":1.10}`},
		{`{ }`, set("", `null`), `{"":null}`},
		{`{}`, set("a\"\n\u2028<", `0`), `{"a\"\n\u2028<":0}`},
		{`{ "a" : 1 , "b" : [ 2 ] }`, set("c", `3`), `{"a":1,"b":[ 2 ],"c":3}`},
		{`{"a":1,"b":2,"c":3}`, set("b", `"x"`), `{"a":1,"b":"x","c":3}`},
		{`{"\u0061":1,"b":2}`, set("a", `9`), `{"\u0061":9,"b":2}`},
		{`{"a":1}`, set("A", `2`), `{"a":1,"A":2}`},
		{`{"a":1}`, set("a", `1`), `{"a":1}`},
		{`{"a":1,"b":2,"a":3,"c":4,"\u0061":5,"d":6}`, set("a", `0`), `{"b":2,"c":4,"\u0061":0,"d":6}`},
		{`{"a":1,"b":2,"a":3}`, set("b", `0`), `{"a":1,"b":0,"a":3}`},
		{`{"a":1,"b":2,"c":3}`, remove("b"), `{"a":1,"c":3}`},
		{`{"a":1,"b":2}`, remove("a"), `{"b":2}`},
		{`{"a":1,"b":2}`, remove("b"), `{"a":1}`},
		{`{"a":1}`, remove("a"), `{}`},
		{`{"a":1,"b":2,"\u0061":3}`, remove("a"), `{"b":2}`},
		{`{ "a" : 1 }`, remove("b"), `{ "a" : 1 }`},
		{`{"a":1}`, func(o *mcp.Object) { o.Delete("a"); o.Set("a", mcp.Raw(`2`)); o.Set("b", mcp.Raw(`3`)) }, `{"a":2,"b":3}`},
		{`{"a":1,"b":2}`, func(o *mcp.Object) { o.Delete("a"); o.Set("a", mcp.Raw(`1`)) }, `{"b":2,"a":1}`},
		{`{"a":{"b":1}}`, func(o *mcp.Object) { o.Object("a").Set("b", mcp.Raw(`2`)); o.Set("a", mcp.Raw(`3`)) }, `{"a":3}`},
		{`{"a":[1]}`, func(o *mcp.Object) { o.Array("a").Add(mcp.Raw(`2`)); o.Delete("a") }, `{}`},
	}
}

func nestedEdits() []edit {
	return []edit{
		{`{ "o" : { "in" : { "n" : 1 } } , "x" : 1.10 }`, func(o *mcp.Object) { o.Object("o").Object("in").Set("n", mcp.Raw(`2`)) }, `{"o":{"in":{"n":2}},"x":1.10}`},
		{`{"o":{ "keep" : [ 1 ] ,"go":0}}`, func(o *mcp.Object) { o.Object("o").Delete("go") }, `{"o":{"keep":[ 1 ]}}`},
		{`{"l":[ { "a":1 } , { "b" : 2 } ]}`, func(o *mcp.Object) { o.Array("l").Object(0).Set("a", mcp.Raw(`2`)) }, `{"l":[{"a":2},{ "b" : 2 }]}`},
		{`{"l":[[1],{}]}`, func(o *mcp.Object) { o.Array("l").Remove(0); o.Array("l").Object(0).Set("a", mcp.Raw(`1`)) }, `{"l":[{"a":1}]}`},
		{`{}`, func(o *mcp.Object) { c := mcp.NewObject(); o.SetObject("c", c); c.Set("a", mcp.Raw(`1`)) }, `{"c":{"a":1}}`},
		{`{}`, func(o *mcp.Object) { a := mcp.NewArray(); o.SetArray("l", a); a.Add(mcp.Raw(`1`)) }, `{"l":[1]}`},
		{`{"c":1,"c":2}`, func(o *mcp.Object) { o.SetObject("c", mcp.NewObject()) }, `{"c":{}}`},
		{`{"c":1}`, func(o *mcp.Object) { o.SetObject("c", mcp.MustObject(`{ "a" : 1 }`)) }, `{"c":{ "a" : 1 }}`},
		{`{"d":{"a":1},"d":{"a":2}}`, func(o *mcp.Object) { o.Object("d").Set("a", mcp.Raw(`3`)) }, `{"d":{"a":1},"d":{"a":3}}`},
		{`{"a":{"x":1},"b":2}`, func(o *mcp.Object) { c := o.Object("a"); o.Delete("b"); c.Set("x", mcp.Raw(`2`)) }, `{"a":{"x":2}}`},
		{`{"a":{"x":1}}`, func(o *mcp.Object) { c := o.Object("a"); o.Set("a", mcp.Raw(`0`)); c.Set("x", mcp.Raw(`2`)) }, `{"a":0}`},
		{`{"content":[{"type":"text","text":"\ud800|\u2028|<a&b>|\/","_meta":{"q":1}}]}`, // T56
			func(o *mcp.Object) { o.Array("content").Object(0).Delete("_meta") },
			`{"content":[{"type":"text","text":"\ud800|\u2028|<a&b>|\/"}]}`},
	}
}

func TestObjectEdits(t *testing.T) {
	for i, tc := range append(flatEdits(), nestedEdits()...) {
		t.Run(fmt.Sprint(i, " ", tc.before), func(t *testing.T) {
			before := []byte(tc.before)
			r, _ := mcp.ParseRaw(before)
			o, _ := mcp.ParseObject(r)
			tc.change(o)
			if got := o.Raw(); string(got) != tc.after {
				t.Errorf("%s; want %s", got, tc.after)
			}
			if got := o.Append(nil); string(got) != tc.after || o.Size() != len(got) {
				t.Errorf("Append wrote %s; size %d", got, o.Size())
			}
			if string(before) != tc.before {
				t.Errorf("the received bytes became %s", before)
			}
		})
	}
}

func TestGetAfterEdits(t *testing.T) {
	o := object(t, `{"a":{ "b" : {"c":1} },"l":[ {"x":1} ]}`)
	get := func(want string) {
		t.Helper()
		a, _ := o.Get("a")
		l, _ := o.Get("l")
		if got := string(a) + string(l); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
	b := o.Object("a").Object("b")
	get(`{ "b" : {"c":1} }[ {"x":1} ]`)
	b.Set("c", mcp.Raw(`2`))
	get(`{"b":{"c":2}}[ {"x":1} ]`)
	o.Array("l").Object(0).Delete("x")
	get(`{"b":{"c":2}}[{}]`)
	o.SetArray("l", array(t, `[ 7 ]`))
	get(`{"b":{"c":2}}[ 7 ]`)
	o.Set("a", mcp.Raw(`0`))
	get(`0[ 7 ]`)
	if o.Object("a") != nil || o.Array("l").Len() != 1 {
		t.Error("an old child is still there")
	}
}

func TestEach(t *testing.T) {
	o := object(t, `{"a":1,"\u0062":{"x":1},"a":3}`)
	o.Object("b").Set("x", mcp.Raw(`2`))
	var got []string
	o.Each(func(name string, v mcp.Raw) bool {
		got = append(got, name+"="+string(v))
		return len(got) < 3
	})
	if want := []string{"a=1", `b={"x":2}`, "a=3"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	n := 0
	o.Each(func(string, mcp.Raw) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("Each went on after false: %d", n)
	}
}

func TestDuplicate(t *testing.T) {
	many := strings.Builder{}
	for i := range 40 {
		fmt.Fprintf(&many, `"k%d":0,`, i)
	}
	for text, want := range map[string]string{
		`{}`: "", `{"a":1}`: "", `{"a":1,"A":2}`: "", `{"a":{"b":1},"b":{"a":2}}`: "",
		`{"a":1,"a":1}`: "a", `{"a":1,"b":2,"\u0061":3}`: "a", `{"x\/y":1,"x/y":2}`: "x/y",
		`{` + many.String() + `"k40":1}`: "", `{` + many.String() + `"k\u0037":1}`: "k7",
	} {
		if got := object(t, text).Duplicate(); got != want {
			t.Errorf("%.60s: %q; want %q", text, got, want)
		}
	}
}

func TestNilObject(t *testing.T) {
	var o *mcp.Object
	if _, ok := o.Get("a"); ok || o.Has("a") || o.Text("a") != "" || o.Object("a") != nil || o.Array("a") != nil {
		t.Error("a nil object has members")
	}
	if o.Len() != 0 || o.Delete("a") || o.Duplicate() != "" || o.Clone() != nil {
		t.Error("a nil object is not empty")
	}
	o.Each(func(string, mcp.Raw) bool { t.Error("a nil object has a member"); return false })
	if string(o.Raw()) != `{}` || string(o.Append([]byte("x"))) != `x{}` || o.Size() != 2 {
		t.Error("a nil object is not written as an empty one")
	}
}
