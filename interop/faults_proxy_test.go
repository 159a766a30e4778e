package interop

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// faultyProxy stands between the bridge and a real server and passes all on,
// until a request asks for a fault: "fault":"NAME" anywhere in its body.
type faultyProxy struct {
	url  string
	t    *testing.T
	to   *url.URL
	pass *httputil.ReverseProxy
}

var askedFault = regexp.MustCompile(`"fault":"([^"]+)"`)

func startFaultyProxy(t *testing.T, server string) *faultyProxy {
	t.Helper()
	to, err := url.Parse(server)
	must(t, err)
	p := &faultyProxy{t: t, to: to, pass: httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host})}
	p.pass.FlushInterval = -1
	p.pass.ErrorLog = log.New(io.Discard, "", 0)
	front := httptest.NewUnstartedServer(p)
	front.Config.ErrorLog = p.pass.ErrorLog
	front.Start()
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	p.url = front.URL + to.Path
	return p
}

func (p *faultyProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if fault := askedFault.FindSubmatch(body); fault != nil {
			p.commit(string(fault[1]), w, r)
			return
		}
	}
	p.pass.ServeHTTP(w, r)
}

const eventsHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

// commit lets the fault happen in place of the server's answer, or to it.
func (p *faultyProxy) commit(fault string, w http.ResponseWriter, r *http.Request) {
	switch fault {
	case "reset":
		p.raw(w, nil, func(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) })
	case "hang":
		<-r.Context().Done()
	case "stall":
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case "truncated event": // the response ends as it should, the event in it does not
		answer := p.answer(r)
		p.raw(w, append([]byte(eventsHead+"Connection: close\r\n\r\n"), answer[:len(answer)-10]...), nil)
	case "cut character":
		answer := p.answer(r)
		cut := answer[:bytes.LastIndex(answer, []byte("é"))+1]
		p.raw(w, fmt.Appendf(nil, "%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", eventsHead, len(cut), cut), nil)
	case "HTML":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Please log in at the secret portal</body></html>")
	case "empty":
		w.WriteHeader(http.StatusOK)
	case "202":
		w.WriteHeader(http.StatusAccepted)
	default:
		p.t.Errorf("there is no fault %q", fault)
	}
}

// raw writes the bytes as they are, and closes the connection.
func (p *faultyProxy) raw(w http.ResponseWriter, data []byte, closing func(net.Conn)) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.t.Errorf("the connection cannot be taken: %v", err)
		return
	}
	defer conn.Close()
	if _, err := conn.Write(data); err != nil {
		p.t.Errorf("writing the broken answer: %v", err)
	}
	if closing != nil {
		closing(conn)
	}
}

// answer is what the real server says to the request, an event stream.
func (p *faultyProxy) answer(r *http.Request) []byte {
	request := r.Clone(r.Context())
	request.RequestURI, request.URL.Scheme, request.URL.Host = "", p.to.Scheme, p.to.Host
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		p.t.Errorf("the real server: %v", err)
		return make([]byte, 10)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if media := response.Header.Get("Content-Type"); err != nil || !strings.HasPrefix(media, "text/event-stream") || !bytes.Contains(body, []byte("é")) {
		p.t.Errorf("the real server answered %s %q, %v", media, body, err)
		return []byte("data: é0123456789")
	}
	return body
}

// met is a fault and what the call that meets it gets.
type met struct {
	fault string
	says  []string      // what the error must say; none where the call succeeds
	until time.Duration // the latest time of the answer
}

// check compares what the sessions got with what they must get.
func (m met) check(t *testing.T, got map[string]reply) {
	t.Helper()
	for name, r := range got {
		if r.OK != (m.says == nil) {
			t.Errorf("%s: ok is %t: %s %s", name, r.OK, r.Value, r.Error)
		}
		for _, part := range m.says {
			if !strings.Contains(r.Error, part) {
				t.Errorf("%s: the error does not say %q: %s", name, part, r.Error)
			}
		}
		if strings.Contains(r.Error, "secret") {
			t.Errorf("%s: the error quotes what the server said: %s", name, r.Error)
		}
		if r.took > m.until {
			t.Errorf("%s: the answer took %s", name, r.took)
		}
		t.Logf("%s: %s after %s", name, r.Error, r.took)
	}
}
