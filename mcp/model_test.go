package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// The reference model of Object and Array: JSON as encoding/json reads it,
// members in order, duplicates kept, numbers in the digits of their sender.
// Its values are *obj, *arr, json.Number, string, bool and nil.
type (
	obj  struct{ pairs []pair }
	arr  struct{ items []any }
	pair struct {
		key string
		val any
	}
)

func readModel(t testing.TB, text []byte) any {
	t.Helper()
	if !json.Valid(text) {
		t.Fatalf("not JSON: %s", text)
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	return readValue(t, d)
}

func readValue(t testing.TB, d *json.Decoder) any {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch token {
	case json.Delim('{'):
		o := &obj{}
		for d.More() {
			key, _ := readValue(t, d).(string)
			o.pairs = append(o.pairs, pair{key, readValue(t, d)})
		}
		_, _ = d.Token()
		return o
	case json.Delim('['):
		a := &arr{}
		for d.More() {
			a.items = append(a.items, readValue(t, d))
		}
		_, _ = d.Token()
		return a
	}
	return token
}

func sameModel(a, b any) bool {
	switch a := a.(type) {
	case *obj:
		b, ok := b.(*obj)
		return ok && slices.EqualFunc(a.pairs, b.pairs, func(x, y pair) bool { return x.key == y.key && sameModel(x.val, y.val) })
	case *arr:
		b, ok := b.(*arr)
		return ok && slices.EqualFunc(a.items, b.items, sameModel)
	}
	return a == b
}

// find returns the last member of that name.
func (o *obj) find(name string) int {
	for i, p := range slices.Backward(o.pairs) {
		if p.key == name {
			return i
		}
	}
	return -1
}

func (o *obj) get(name string) (any, bool) {
	if i := o.find(name); i >= 0 {
		return o.pairs[i].val, true
	}
	return nil, false
}

// set replaces the last member of that name and drops the others.
func (o *obj) set(name string, v any) {
	i := o.find(name)
	if i < 0 {
		o.pairs = append(o.pairs, pair{name, v})
		return
	}
	o.pairs[i].val = v
	var kept []pair
	for j, p := range o.pairs {
		if j == i || p.key != name {
			kept = append(kept, p)
		}
	}
	o.pairs = kept
}

func (o *obj) remove(name string) bool {
	before := len(o.pairs)
	o.pairs = slices.DeleteFunc(o.pairs, func(p pair) bool { return p.key == name })
	return len(o.pairs) < before
}

func TestModelTellsValuesApart(t *testing.T) {
	texts := []string{
		`{}`, `[]`, `null`, `0`, `-0`, `1`, `1.0`, `"1"`, `true`, `false`, `""`, `{"a":1}`, `{"a":1,"a":1}`, `{"a":1,"b":1}`, `{"b":1,"a":1}`,
		`[1]`, `[1,1]`, `[[]]`, `[{}]`, `{"a":{}}`, `9007199254740993`, `9007199254740992`, `1.10`, `1.1`,
	}
	for i, a := range texts {
		for j, b := range texts {
			if got := sameModel(readModel(t, []byte(a)), readModel(t, []byte(b))); got != (i == j) {
				t.Errorf("%s and %s: same = %v", a, b, got)
			}
		}
	}
}
