package mcp

// Array is a JSON array kept as the bytes its sender wrote, changed like an
// Object. An Array is not safe for concurrent use.
type Array struct {
	raw    Raw
	items  []member
	opened bool
	dirty  bool
}

// NewArray returns an empty array.
func NewArray() *Array { return &Array{opened: true, dirty: true} }

// ParseArray returns the array in r; ok is false when r holds another type.
func ParseArray(r Raw) (a *Array, ok bool) {
	if !r.IsArray() {
		return nil, false
	}
	return &Array{raw: r}, true
}

func (a *Array) open() {
	if a.opened {
		return
	}
	a.opened = true
	b := a.raw
	for i := space(b, 1); i < len(b) && b[i] != ']'; {
		end := skip(b, i)
		a.items = append(a.items, member{val: b[i:end]})
		i = space(b, end)
		if i < len(b) && b[i] == ',' {
			i = space(b, i+1)
		}
	}
}

// Len returns the number of elements. A nil Array has none.
func (a *Array) Len() int {
	if a == nil {
		return 0
	}
	a.open()
	return len(a.items)
}

// At returns element i.
func (a *Array) At(i int) Raw {
	a.open()
	return a.items[i].value()
}

// Object opens element i when it is an object, else it returns nil. Changes
// to the child become changes of a.
func (a *Array) Object(i int) *Object {
	a.open()
	item := &a.items[i]
	if child, ok := item.node.(*Object); ok {
		return child
	}
	child, ok := ParseObject(item.val)
	if !ok || item.node != nil {
		return nil
	}
	item.node = child
	return child
}

// Set replaces element i.
func (a *Array) Set(i int, v Raw) {
	a.open()
	a.dirty = true
	a.items[i] = member{val: v}
}

// SetObject replaces element i by an object that may still change.
func (a *Array) SetObject(i int, child *Object) {
	a.open()
	a.dirty = true
	a.items[i] = member{node: child}
}

// Add appends an element.
func (a *Array) Add(v Raw) {
	a.open()
	a.dirty = true
	a.items = append(a.items, member{val: v})
}

// AddObject appends an object that may still change.
func (a *Array) AddObject(child *Object) {
	a.open()
	a.dirty = true
	a.items = append(a.items, member{node: child})
}

// Remove deletes element i.
func (a *Array) Remove(i int) {
	a.open()
	a.dirty = true
	a.items = append(a.items[:i], a.items[i+1:]...)
}

func (a *Array) changed() bool {
	if a.dirty {
		return true
	}
	for i := range a.items {
		if n := a.items[i].node; n != nil && n.changed() {
			return true
		}
	}
	return false
}

func (a *Array) appendTo(dst []byte) []byte {
	if a.raw != nil && !a.changed() {
		return append(dst, a.raw...)
	}
	dst = append(dst, '[')
	for i := range a.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n := a.items[i].node; n != nil {
			dst = n.appendTo(dst)
		} else {
			dst = append(dst, a.items[i].val...)
		}
	}
	return append(dst, ']')
}

func (a *Array) size() int {
	if a.raw != nil && !a.changed() {
		return len(a.raw)
	}
	n := 2 - min(1, len(a.items)) // brackets; the first has no comma
	for i := range a.items {
		n++
		if child := a.items[i].node; child != nil {
			n += child.size()
		} else {
			n += len(a.items[i].val)
		}
	}
	return n
}

// Raw returns the array as one value.
func (a *Array) Raw() Raw {
	if a.raw != nil && !a.changed() {
		return a.raw
	}
	return a.appendTo(make([]byte, 0, a.size()))
}
