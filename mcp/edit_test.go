package mcp_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// handle is a container under edit and its model; one of object and array is
// set. A handle stays when an edit cuts its container off.
type handle struct {
	object *mcp.Object
	array  *mcp.Array
	obj    *obj
	arr    *arr
}

// editor performs the edits of a script on a tree and on its model at once.
type editor struct {
	t       testing.TB
	script  []byte
	handles []handle
}

// pick takes the next choice of the script.
func (e *editor) pick(n int) int {
	if len(e.script) == 0 {
		return 0
	}
	b := e.script[0]
	e.script = e.script[1:]
	return int(b) % n
}

func (e *editor) step() {
	h := e.handles[e.pick(len(e.handles))]
	if h.object != nil {
		e.editObject(h.object, h.obj)
	} else {
		e.editArray(h.array, h.arr)
	}
}

func (e *editor) name(o *obj) string {
	if n := len(o.pairs); n > 0 && e.pick(2) == 0 {
		return o.pairs[e.pick(n)].key
	}
	names := []string{"a", "b", "", "é", "q\"\\", "\u2028", "<&>"}
	return names[e.pick(len(names))]
}

// literal returns some value and its model.
func (e *editor) literal() (mcp.Raw, any) {
	texts := []string{`1.10`, `-0`, `9007199254740993`, `"\ud800"`, `""`, `null`, `true`, `[ ]`, `{ }`, `{"a":1,"a":2}`, `[1, [ 2 ],{"b":{}}]`, `{"b":[{"a":[]}]}`}
	r := raw(e.t, texts[e.pick(len(texts))])
	return r, readModel(e.t, r)
}

// child returns an object to hang into the tree.
func (e *editor) child() handle {
	if r, m := e.literal(); r.IsObject() {
		o, _ := mcp.ParseObject(r)
		return handle{object: o, obj: m.(*obj)}
	}
	return handle{object: mcp.NewObject(), obj: &obj{}}
}

func (e *editor) editObject(o *mcp.Object, m *obj) {
	name := e.name(m)
	switch e.pick(8) {
	case 0, 1:
		v, model := e.literal()
		o.Set(name, v)
		m.set(name, model)
	case 2:
		if got, want := o.Delete(name), m.remove(name); got != want {
			e.t.Fatalf("Delete(%q) = %v", name, got)
		}
	case 3:
		h := e.child()
		o.SetObject(name, h.object)
		m.set(name, h.obj)
		e.handles = append(e.handles, h)
	case 4:
		h := handle{array: mcp.NewArray(), arr: &arr{}}
		o.SetArray(name, h.array)
		m.set(name, h.arr)
		e.handles = append(e.handles, h)
	case 5, 6:
		e.open(o, m, name)
	default:
		e.read(o, m, name)
	}
}

// open opens a child as both types and keeps what opens.
func (e *editor) open(o *mcp.Object, m *obj, name string) {
	want, _ := m.get(name)
	childObj, isObj := want.(*obj)
	childArr, isArr := want.(*arr)
	object, array := o.Object(name), o.Array(name)
	if (object != nil) != isObj || (array != nil) != isArr {
		e.t.Fatalf("%q opens as %v and %v; want %T", name, object, array, want)
	}
	if isObj {
		e.handles = append(e.handles, handle{object: object, obj: childObj})
	}
	if isArr {
		e.handles = append(e.handles, handle{array: array, arr: childArr})
	}
}

func (e *editor) read(o *mcp.Object, m *obj, name string) {
	got, ok := o.Get(name)
	want, exists := m.get(name)
	if ok != exists || o.Has(name) != exists || o.Len() != len(m.pairs) {
		e.t.Fatalf("%q: Get = %s, %v; %d members; want %v of %d", name, got, ok, o.Len(), exists, len(m.pairs))
	}
	if exists && !sameModel(readModel(e.t, got), want) {
		e.t.Fatalf("Get(%q) = %s", name, got)
	}
}

func (e *editor) editArray(a *mcp.Array, m *arr) {
	n := len(m.items)
	if a.Len() != n {
		e.t.Fatalf("%d elements; want %d", a.Len(), n)
	}
	if n == 0 || e.pick(3) == 0 {
		e.add(a, m)
		return
	}
	i := e.pick(n)
	switch e.pick(5) {
	case 0:
		v, model := e.literal()
		a.Set(i, v)
		m.items[i] = model
	case 1:
		h := e.child()
		a.SetObject(i, h.object)
		m.items[i] = h.obj
		e.handles = append(e.handles, h)
	case 2:
		a.Remove(i)
		m.items = append(m.items[:i:i], m.items[i+1:]...)
	case 3:
		child, want := m.items[i].(*obj)
		object := a.Object(i)
		if (object != nil) != want {
			e.t.Fatalf("element %d opens as %v", i, object)
		}
		if want {
			e.handles = append(e.handles, handle{object: object, obj: child})
		}
	default:
		if got := a.At(i); !sameModel(readModel(e.t, got), m.items[i]) {
			e.t.Fatalf("At(%d) = %s", i, got)
		}
	}
}

func (e *editor) add(a *mcp.Array, m *arr) {
	if e.pick(2) == 0 {
		v, model := e.literal()
		a.Add(v)
		m.items = append(m.items, model)
		return
	}
	h := e.child()
	a.AddObject(h.object)
	m.items = append(m.items, h.obj)
	e.handles = append(e.handles, h)
}

// runScript runs a script on the object in text and checks it after each step.
func runScript(t testing.TB, text, script []byte) {
	r, err := mcp.ParseRaw(text)
	if err != nil || !r.IsObject() || len(text) > 1<<16 {
		return
	}
	o, _ := mcp.ParseObject(r)
	m := readModel(t, r).(*obj)
	before := string(text)
	e := &editor{t: t, script: script, handles: []handle{{object: o, obj: m}}}
	var clone *mcp.Object
	var cloned string
	for range min(len(script), 64) {
		e.step()
		got := o.Raw()
		if !sameModel(readModel(t, got), m) {
			t.Fatalf("after an edit of %s it is %s", text, got)
		}
		if string(o.Append([]byte("x"))) != "x"+string(got) || o.Size() != len(got) {
			t.Fatalf("%s has the size %d and is appended as %s", got, o.Size(), o.Append(nil))
		}
		if clone == nil && e.pick(4) == 0 {
			clone, cloned = o.Clone(), string(got)
		}
	}
	if string(text) != before || clone != nil && string(clone.Raw()) != cloned {
		t.Fatalf("the text is now %s, the copy %s", text, clone.Raw())
	}
}

func randomScript(r *rand.Rand) []byte {
	script := make([]byte, 20+r.IntN(180))
	for i := range script {
		script[i] = byte(r.Uint32())
	}
	return script
}

// randomJSON writes an object with odd names, duplicates and whitespace.
func randomJSON(r *rand.Rand, depth int) string {
	of := func(choices ...string) string { return choices[r.IntN(len(choices))] }
	space := func() string { return of("", "", "", " ", "\n\t") }
	var parts []string
	for range r.IntN(5) {
		value := of(`1.10`, `-0`, `1e400`, `"\ud800"`, `"]}"`, `"\\"`, `null`, `[]`, `[ 1 ,{"a":2} ]`)
		if depth > 0 && r.IntN(2) == 0 {
			value = of("", "[ ", "[1,") + randomJSON(r, depth-1)
			if value[0] == '[' {
				value += space() + "]"
			}
		}
		parts = append(parts, space()+of(`"a"`, `"\u0061"`, `"b"`, `""`, `"\"{"`)+space()+":"+space()+value+space())
	}
	return "{" + space() + strings.Join(parts, ",") + "}"
}

func TestRandomEdits(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 0))
		runScript(t, []byte(randomJSON(r, 3)), randomScript(r))
	}
}

func FuzzObject(f *testing.F) {
	f.Add([]byte(busy), []byte{0, 1, 2, 3, 4, 5, 6, 7})
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		f.Add([]byte(randomJSON(r, 3)), randomScript(r))
	}
	f.Fuzz(func(t *testing.T, text, script []byte) { runScript(t, text, script) })
}
