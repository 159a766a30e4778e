package main

import (
	"net/http"
	"time"
)

// protocols lets clients speak HTTP/2, over TLS and in clear text, where they
// do so from the first byte: a proxy before the bridge then shares one
// connection among many streams.
func protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return p
}

// streams bounds what one HTTP/2 connection may take. A stream that the client
// resets counts until its handler has ended; those beyond the bound are refused
// or wait, and a connection with too many of these is cut off by the HTTP
// server, as is one with a header or control frames without end. A peer that is
// gone, or that stops in the middle of a header, is noticed by a ping that it
// does not answer, and one that does not read by what cannot be written.
func streams() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams: 250,
		MaxReadFrameSize:     64 << 10,
		SendPingTimeout:      30 * time.Second,
		PingTimeout:          15 * time.Second,
		WriteByteTimeout:     30 * time.Second,
	}
}
