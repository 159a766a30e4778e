package lines

import "fmt"

// How much is kept of both ends of a line that is too long: enough to see
// what it was.
const (
	headSize = 4 << 10
	tailSize = 1 << 10
)

// TooLong says that a line was skipped because it exceeds the limit.
type TooLong struct {
	Limit int
	Size  int64  // of the line, or of what there was of it
	Head  []byte // how it begins
	Tail  []byte // how it ends
}

func (t *TooLong) Error() string {
	return fmt.Sprintf("lines: reading: a line of %d bytes is longer than the %d allowed", t.Size, t.Limit)
}

// note takes the next part of the line.
func (t *TooLong) note(part []byte) {
	t.Size += int64(len(part))
	if room := headSize - len(t.Head); room > 0 {
		t.Head = append(t.Head, part[:min(room, len(part))]...)
	}
	if len(part) >= tailSize {
		t.Tail = append(t.Tail[:0], part[len(part)-tailSize:]...)
		return
	}
	t.Tail = append(t.Tail, part...)
	if over := len(t.Tail) - tailSize; over > 0 {
		t.Tail = append(t.Tail[:0], t.Tail[over:]...)
	}
}
