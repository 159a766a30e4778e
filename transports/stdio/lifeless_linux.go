package stdio

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lifeless reports whether all processes of a group have ended and only wait
// to be reaped by others than the bridge: by the first process of the machine
// or of the container, and some of those take their time.
func lifeless(group int) bool {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return false
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it is gone
		}
		// The name of the command stands in brackets and may hold any character.
		_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		fields := strings.Fields(rest) // state, parent, group, ...
		if len(fields) < 3 || fields[2] != strconv.Itoa(group) {
			continue
		}
		ended := fields[0] == "Z" || fields[0] == "X"
		if !ended || fields[1] == strconv.Itoa(os.Getpid()) {
			return false
		}
	}
	return true
}
