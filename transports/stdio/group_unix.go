//go:build unix

package stdio

import (
	"os/exec"
	"syscall"
)

// group is a child with all that it started, but for what made a session of
// its own.
type group struct{ id int }

// newGroup makes the command start in a process group of its own. That also
// keeps the terminal's Ctrl-C from it: the bridge stops it in order.
func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &group{}
}

// started takes over the process.
func (g *group) started(cmd *exec.Cmd) { g.id = cmd.Process.Pid }

// terminate asks all to end.
func (g *group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) } // whom it does not reach has ended

// kill ends all. The system gives the number to nobody else while the group
// has members, nor in the moment after its last one was reaped.
func (g *group) kill() { _ = syscall.Kill(-g.id, syscall.SIGKILL) }

// empty reports whether none is left, after the child was reaped.
func (g *group) empty() bool {
	g.adopt()
	return syscall.Kill(-g.id, 0) != nil || lifeless(g.id)
}

// adopt reaps orphans of the group, where they fall to the bridge: in a
// container it is often the first process.
func (g *group) adopt() {
	for {
		pid, err := syscall.Wait4(-g.id, nil, syscall.WNOHANG, nil)
		if err != syscall.EINTR && (err != nil || pid <= 0) {
			return
		}
	}
}

// release frees what the system keeps for the group.
func (g *group) release() {}
