package websocket

import (
	gorilla "github.com/gorilla/websocket"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// keptBuffer is the largest buffer that is kept for the next message.
const keptBuffer = 1 << 20

// writer writes what the host sends to one client. It is used by one
// goroutine.
type writer struct {
	*peer
	buf  []byte
	stop bool // nothing follows what is there
	done bool // nothing is to be written any more
}

// drain writes all that is there, and reports whether the work is done.
func (w *writer) drain() bool {
	for !w.done {
		d, ok := w.stream.Next()
		if !ok && !w.stop {
			break
		}
		w.message(d.Message)
		if d.Last || !ok {
			w.end()
		}
	}
	return w.done
}

func (w *writer) message(m *mcp.Message) {
	if m == nil {
		return
	}
	w.buf = m.Append(w.buf[:0])
	w.check(w.socket.write(w.buf))
	w.owed.Paid(m)
	if cap(w.buf) > keptBuffer {
		w.buf = nil
	}
}

func (w *writer) ping() { w.check(w.socket.ping()) }

// check ends the work when the connection cannot be written to any more.
func (w *writer) check(err error) {
	if err != nil {
		w.done = true
		w.socket.broken(err)
	}
}

// end says good-bye. A host that ends while answers are owed has failed.
func (w *writer) end() {
	if w.done {
		return
	}
	w.done = true
	code := gorilla.CloseNormalClosure
	select {
	case <-w.owed.None():
	default:
		code = gorilla.CloseInternalServerErr
	}
	select {
	case <-w.leaving:
		code = gorilla.CloseGoingAway
	default:
	}
	w.socket.end(code, codeName(code))
}
