package stdio

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Ended says how a child ended that should have lived on.
type Ended struct {
	Command string // the program's name
	PID     int
	State   string // "exit status 1", "signal: killed"
	// LastLine is what it last wrote to standard error. It is for the
	// operator: no client may see it.
	LastLine string
}

func (e *Ended) Error() string {
	text := "stdio: using " + e.Command + ": the process ended: " + e.State
	if e.LastLine != "" {
		text += "; its last line on standard error: " + strconv.Quote(e.LastLine)
	}
	return text
}

// Words implements transports.Worded. The exit code is no secret; what the
// process wrote may be.
func (e *Ended) Words() string {
	return "the process of the upstream server " + e.Command + " ended before it answered (" + e.State +
		"); whether it acted on the request is not known; the bridge's log has what it said"
}

// Resting says that a command died too often to be started again at once.
type Resting struct {
	Command string
	Deaths  int       // in a row
	Until   time.Time // when it may be started again
}

func (e *Resting) Error() string {
	return fmt.Sprintf("stdio: starting %s: it died %d times in a row; it is not started again before %s",
		e.Command, e.Deaths, e.Until.Format(time.TimeOnly))
}

// Words implements transports.Worded.
func (e *Resting) Words() string {
	return fmt.Sprintf("the upstream server %s ended %d times in a row; it is started again after %s; the bridge's log has what it said",
		e.Command, e.Deaths, e.Until.Format(time.TimeOnly))
}

// NotStarted says why a command could not be started.
type NotStarted struct {
	Command string
	Text    string // for a person
	Err     error
}

// Words implements transports.Worded.
func (e *NotStarted) Words() string {
	return "the upstream server " + e.Command + " could not be started: " + e.Text
}

func (e *NotStarted) Error() string { return "stdio: starting " + e.Command + ": " + e.Text }

// Unwrap returns the cause.
func (e *NotStarted) Unwrap() error { return e.Err }

func notStarted(command string, err error) error {
	if err == nil {
		return nil
	}
	e := &NotStarted{Command: command, Err: err}
	var number syscall.Errno
	switch {
	case errors.Is(err, exec.ErrNotFound):
		e.Text = "command not found; is it installed, and is its directory in PATH?"
	case errors.Is(err, exec.ErrDot):
		e.Text = "it is in the current directory and not in PATH; name it with its directory, as ./" + command
	case errors.Is(err, fs.ErrPermission):
		e.Text = "permission denied; is it an executable file?"
	case errors.Is(err, fs.ErrNotExist):
		e.Text = "there is no such file, or its first line names an interpreter that does not exist"
	case errors.Is(err, syscall.ENOEXEC):
		e.Text = "it is neither a program for this machine nor a script with a #! line"
	case errors.As(err, &number):
		e.Text = number.Error()
	default:
		e.Text = err.Error()
	}
	return e
}
