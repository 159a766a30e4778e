package configs

import "reflect"

// Equal reports whether two routes say the same.
func (r Route) Equal(other Route) bool { return reflect.DeepEqual(r, other) }
