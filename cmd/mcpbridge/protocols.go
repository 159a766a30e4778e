package main

import "net/http"

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
