package mcp

import "bytes"

// Object is a JSON object kept as the bytes its sender wrote. Reading looks
// into those bytes; a change is remembered beside them and takes effect when
// the object is written, so what nobody touched leaves exactly as it came.
//
// An Object is not safe for concurrent use.
type Object struct {
	raw     Raw // as received; nil for an object made here
	members []member
	opened  bool
	dirty   bool
}

type member struct {
	key  Raw // quoted, as written
	val  Raw
	node node // when set, written in place of val
}

// node is an opened child: an Object or an Array.
type node interface {
	changed() bool
	appendTo(dst []byte) []byte
	size() int
}

// NewObject returns an empty object.
func NewObject() *Object { return &Object{opened: true, dirty: true} }

// ParseObject returns the object in r; ok is false when r holds another type.
func ParseObject(r Raw) (o *Object, ok bool) {
	if !r.IsObject() {
		return nil, false
	}
	return &Object{raw: r}, true
}

// MustObject parses text that the program itself wrote; it panics on a
// mistake in it.
func MustObject(text string) *Object {
	raw, err := ParseRaw([]byte(text))
	if err != nil {
		panic("mcp: " + err.Error())
	}
	o, ok := ParseObject(raw)
	if !ok {
		panic("mcp: not an object: " + text)
	}
	return o
}

func (o *Object) open() {
	if o.opened {
		return
	}
	o.opened = true
	eachMember(o.raw, func(key, val Raw) bool {
		o.members = append(o.members, member{key: key, val: val})
		return true
	})
}

// find returns the last member of that name: of duplicates most readers take
// the last.
func (o *Object) find(name string) int {
	if o == nil {
		return -1
	}
	o.open()
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].key.Is(name) {
			return i
		}
	}
	return -1
}

// Get returns the value of a member. A nil Object has no members.
func (o *Object) Get(name string) (Raw, bool) {
	i := o.find(name)
	if i < 0 {
		return nil, false
	}
	return o.members[i].value(), true
}

func (m *member) value() Raw {
	if m.node != nil && (m.val == nil || m.node.changed()) {
		return m.node.appendTo(make([]byte, 0, m.node.size()))
	}
	return m.val
}

// Has reports whether the member exists, whatever its value.
func (o *Object) Has(name string) bool { return o.find(name) >= 0 }

// Text returns the decoded string member of that name, or "".
func (o *Object) Text(name string) string {
	v, _ := o.Get(name)
	s, _ := v.Text()
	return s
}

// Object opens the object member of that name: changes to the child become
// changes of o. It returns nil when there is no such object.
func (o *Object) Object(name string) *Object {
	i := o.find(name)
	if i < 0 {
		return nil
	}
	m := &o.members[i]
	if child, ok := m.node.(*Object); ok {
		return child
	}
	child, ok := ParseObject(m.val)
	if !ok || m.node != nil {
		return nil
	}
	m.node = child
	return child
}

// Array opens the array member of that name, as Object does for objects.
func (o *Object) Array(name string) *Array {
	i := o.find(name)
	if i < 0 {
		return nil
	}
	m := &o.members[i]
	if child, ok := m.node.(*Array); ok {
		return child
	}
	child, ok := ParseArray(m.val)
	if !ok || m.node != nil {
		return nil
	}
	m.node = child
	return child
}

// Set replaces the value of a member in place, or appends the member. An empty
// value, as Get returns it of a member that is not there, sets nothing.
func (o *Object) Set(name string, v Raw) {
	if len(v) > 0 {
		o.set(name, member{val: v})
	}
}

// SetObject puts an object that may still change in the place of a member.
func (o *Object) SetObject(name string, child *Object) { o.set(name, member{node: child}) }

// SetArray puts an array that may still change in the place of a member.
func (o *Object) SetArray(name string, child *Array) { o.set(name, member{node: child}) }

func (o *Object) set(name string, m member) {
	o.dirty = true
	i := o.find(name)
	if i < 0 {
		m.key = Quote(name)
		o.members = append(o.members, m)
		return
	}
	m.key = o.members[i].key
	o.members[i] = m
	o.removeDuplicates(name, i)
}

func (o *Object) removeDuplicates(name string, keep int) {
	out := o.members[:0]
	for j := range o.members {
		if j == keep || !o.members[j].key.Is(name) {
			out = append(out, o.members[j])
		}
	}
	o.members = out
}

// Delete removes every member of that name and reports whether there was one.
func (o *Object) Delete(name string) bool {
	if o.find(name) < 0 {
		return false
	}
	o.removeDuplicates(name, -1)
	o.dirty = true
	return true
}

// Len returns the number of members. A nil Object has none.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	o.open()
	return len(o.members)
}

// Each calls f for the members in order until f returns false. Changing the
// object from f is not allowed.
func (o *Object) Each(f func(name string, v Raw) bool) {
	if o == nil {
		return
	}
	o.open()
	for i := range o.members {
		name, _ := o.members[i].key.Text()
		if !f(name, o.members[i].value()) {
			return
		}
	}
}

func (o *Object) changed() bool {
	if o.dirty {
		return true
	}
	for i := range o.members {
		if n := o.members[i].node; n != nil && n.changed() {
			return true
		}
	}
	return false
}

// Append writes the object to the end of dst.
func (o *Object) Append(dst []byte) []byte {
	if o == nil {
		return append(dst, "{}"...)
	}
	return o.appendTo(dst)
}

func (o *Object) appendTo(dst []byte) []byte {
	if o.raw != nil && !o.changed() {
		return append(dst, o.raw...)
	}
	dst = append(dst, '{')
	for i := range o.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, o.members[i].key...), ':')
		if n := o.members[i].node; n != nil {
			dst = n.appendTo(dst)
		} else {
			dst = append(dst, o.members[i].val...)
		}
	}
	return append(dst, '}')
}

func (o *Object) size() int {
	if o.raw != nil && !o.changed() {
		return len(o.raw)
	}
	n := 2 - min(1, len(o.members)) // brackets; the first has no comma
	for i := range o.members {
		n += len(o.members[i].key) + 2
		if child := o.members[i].node; child != nil {
			n += child.size()
		} else {
			n += len(o.members[i].val)
		}
	}
	return n
}

// Size returns the number of bytes that Append will write.
func (o *Object) Size() int {
	if o == nil {
		return 2
	}
	return o.size()
}

// Raw returns the object as one value; it is the received bytes themselves
// when nothing changed.
func (o *Object) Raw() Raw {
	if o == nil {
		return Raw("{}")
	}
	if o.raw != nil && !o.changed() {
		return o.raw
	}
	return o.appendTo(make([]byte, 0, o.size()))
}

// Clone returns an independent copy; the bytes nobody changes stay shared.
func (o *Object) Clone() *Object {
	if o == nil {
		return nil
	}
	copied, _ := ParseObject(bytes.Clone(o.Raw()))
	return copied
}
