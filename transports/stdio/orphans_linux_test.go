package stdio_test

import (
	"strconv"
	"syscall"
	"testing"
)

// TestOrphansAreReaped makes this process the one to which orphans fall, as a
// container's first process is.
func TestOrphansAreReaped(t *testing.T) {
	adopt := func(on uintptr) {
		const subreaper = 36 // PR_SET_CHILD_SUBREAPER
		if _, _, err := syscall.RawSyscall(syscall.SYS_PRCTL, subreaper, on, 0); err != 0 {
			t.Fatal(err)
		}
	}
	adopt(1)
	t.Cleanup(func() { adopt(0) })
	for _, tool := range []string{"forks", "leaves"} {
		t.Run(tool, func(t *testing.T) {
			p, _ := program(t, "server", nil) // it counts zombies at the end
			c := converse(t, p)
			c.open()
			pid, err := strconv.Atoi(c.call(tool))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
				t.Errorf("the grandchild %d is still known: %v", pid, err)
			}
		})
	}
}
