package mcp

// eachMember visits the members of an object's text, in order, until f
// returns false. The text must have been validated.
func eachMember(b Raw, f func(key, val Raw) bool) {
	for i := space(b, 1); i < len(b) && b[i] == '"'; {
		keyEnd := skipString(b, i)
		start := space(b, space(b, keyEnd)+1)
		end := skip(b, start)
		if !f(b[i:keyEnd], b[start:end]) {
			return
		}
		i = space(b, end)
		if i < len(b) && b[i] == ',' {
			i = space(b, i+1)
		}
	}
}

// maxMembers bounds the members of params and of its _meta: a body of tiny
// members would cost many times its bytes once it is opened.
const maxMembers = 10000

// crowded reports whether an object has more members than are taken.
func crowded(o Raw) bool {
	n := 0
	eachMember(o, func(Raw, Raw) bool {
		n++
		return n <= maxMembers
	})
	return n > maxMembers
}

// Duplicate returns the name of a member that occurs twice, or "".
func (o *Object) Duplicate() string {
	if o == nil {
		return ""
	}
	o.open()
	if len(o.members) > 32 {
		return duplicateAmongMany(o.members)
	}
	for i := range o.members {
		name, _ := o.members[i].key.Text()
		for j := range i {
			if o.members[j].key.Is(name) {
				return name
			}
		}
	}
	return ""
}

func duplicateAmongMany(members []member) string {
	seen := make(map[string]bool, len(members))
	for i := range members {
		name, _ := members[i].key.Text()
		if seen[name] {
			return name
		}
		seen[name] = true
	}
	return ""
}
