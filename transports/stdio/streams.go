package stdio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// streams are one side's ends of the three standard streams.
type streams struct{ in, out, err *os.File }

func (s streams) close() {
	for _, f := range []*os.File{s.in, s.out, s.err} {
		if f != nil {
			_ = f.Close() // whether they are closed already does not matter
		}
	}
}

// openStreams returns both ends of new pipes. They are files and not the
// pipes of os/exec, which would close them while they are still read.
func openStreams() (near, far streams, err error) {
	defer func() {
		if err != nil {
			near.close()
			far.close()
			err = fmt.Errorf("stdio: opening the standard streams: %w", err)
		}
	}()
	if far.in, near.in, err = os.Pipe(); err != nil {
		return near, far, err
	}
	if near.out, far.out, err = os.Pipe(); err != nil {
		return near, far, err
	}
	near.err, far.err, err = os.Pipe()
	return near, far, err
}

// drainTime is how long an output may stay silent after its process ended. It
// has an end of its own then, unless a process that left the group holds it.
const drainTime = time.Second

// output reads a child's standard output until nobody is left to write to it.
type output struct {
	file   *os.File
	exited <-chan struct{}
}

// Read implements io.Reader.
func (o *output) Read(b []byte) (int, error) {
	for {
		last, began := isClosed(o.exited), time.Now()
		if last {
			_ = o.file.SetReadDeadline(began.Add(drainTime)) // see wake for where there are none
		}
		n, err := o.file.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if last && time.Since(began) >= drainTime {
			return 0, io.EOF
		}
	}
}

// wake lets a Read that waits see that the process ended.
func (o *output) wake() {
	if o.file.SetReadDeadline(time.Now()) != nil { // Windows
		time.AfterFunc(drainTime, func() { _ = o.file.Close() })
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
