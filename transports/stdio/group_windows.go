//go:build windows

package stdio

import (
	"os/exec"
	"syscall"
	"unsafe"
)

// group is a child with all that it started. Windows has neither signals nor
// process groups in the sense of Unix: a job object holds the processes, and
// ends with the bridge. What asks a process to end is Ctrl-Break, which only
// reaches programs that share the bridge's console; others are ended when the
// time that they have for it is over.
type group struct {
	id  int
	job syscall.Handle // zero when there is none
}

// newGroup makes the command start in a process group of its own.
func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	return &group{job: newJob()}
}

// started takes over the process. What it starts before that is not held.
func (g *group) started(cmd *exec.Cmd) {
	const setQuota = 0x0100
	g.id = cmd.Process.Pid
	h, err := syscall.OpenProcess(setQuota|syscall.PROCESS_TERMINATE, false, uint32(g.id))
	if err != nil {
		return
	}
	defer syscall.CloseHandle(h) //nolint:errcheck // nothing depends on it
	call("AssignProcessToJobObject", uintptr(g.job), uintptr(h))
}

// terminate asks all to end.
func (g *group) terminate() {
	call("GenerateConsoleCtrlEvent", syscall.CTRL_BREAK_EVENT, uintptr(g.id))
}

// kill ends all.
func (g *group) kill() {
	const exitCode = 1
	call("TerminateJobObject", uintptr(g.job), exitCode)
	if h, err := syscall.OpenProcess(syscall.PROCESS_TERMINATE, false, uint32(g.id)); err == nil {
		_ = syscall.TerminateProcess(h, exitCode) // it is in the job, or ends here
		_ = syscall.CloseHandle(h)
	}
}

// empty reports whether none is left, after the child ended. What is left in
// the job ends when it is released.
func (g *group) empty() bool { return true }

// release frees what the system keeps for the group.
func (g *group) release() {
	if g.job != 0 {
		_ = syscall.CloseHandle(g.job) // ends what is in it
		g.job = 0
	}
}

// newJob returns a job object whose processes end with its last handle; zero
// when the system gives none.
func newJob() syscall.Handle {
	const (
		killOnClose         = 0x2000
		extendedInformation = 9
	)
	h := syscall.Handle(call("CreateJobObjectW", 0, 0))
	var info extendedLimits
	info.flags = killOnClose
	call("SetInformationJobObject", uintptr(h), extendedInformation, uintptr(unsafe.Pointer(&info)), unsafe.Sizeof(info))
	return h
}

// extendedLimits is JOBOBJECT_EXTENDED_LIMIT_INFORMATION.
type extendedLimits struct {
	perProcessTime, perJobTime int64
	flags                      uint32
	minSet, maxSet             uintptr
	processes                  uint32
	affinity                   uintptr
	priority, scheduling       uint32
	counters                   [6]uint64
	memory                     [4]uintptr
}

// call calls a function of the system and returns what it does: zero is
// failure, which leaves the child without what the call would have given.
func call(name string, args ...uintptr) uintptr {
	f := syscall.NewLazyDLL("kernel32.dll").NewProc(name)
	if f.Find() != nil {
		return 0
	}
	r, _, _ := f.Call(args...)
	return r
}
