package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// TestProtocols asks the endpoint in HTTP/1.1 and in HTTP/2, both in clear
// text.
func TestProtocols(t *testing.T) {
	s := start(t, newCall(), nil)
	close(s.end)
	for major, only := range map[int]func(*http.Protocols, bool){1: (*http.Protocols).SetHTTP1, 2: (*http.Protocols).SetUnencryptedHTTP2} {
		client := &http.Transport{Protocols: new(http.Protocols)}
		only(client.Protocols, true)
		for _, path := range []string{s.endpoint, s.endpoint + "/"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.ProtoMajor != major || resp.StatusCode != http.StatusOK {
				t.Errorf("%s: HTTP/%d, status %d", path, resp.ProtoMajor, resp.StatusCode)
			}
		}
		client.CloseIdleConnections()
	}
	s.stop <- syscall.SIGTERM
	<-s.result
}
