//go:build unix && !linux

package stdio

// lifeless reports whether all processes of a group have ended and only wait
// to be reaped. Only Linux tells easily.
func lifeless(int) bool { return false }
