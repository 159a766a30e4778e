package web

import (
	"net/http/httptrace"
	"sync/atomic"
)

// progress watches a request leave. The transport repeats an attempt on a
// stale connection by itself only when nothing of it was written, so each
// attempt starts anew.
type progress struct {
	begun  atomic.Bool
	reused atomic.Bool // it went out on a connection that was idle before
}

func (p *progress) trace(sent func()) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:          func(string) { p.begun.Store(false) },
		GotConn:          func(info httptrace.GotConnInfo) { p.reused.Store(info.Reused) },
		WroteHeaderField: func(string, []string) { p.begun.Store(true) },
		WroteHeaders:     func() { p.begun.Store(true) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				sent()
			}
		},
	}
}
