package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// ledger is a server that keeps the bodies of all tool calls, and what their
// headers held that frames a message.
type ledger struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	odd    []string
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	l := &ledger{}
	plain := upstream(t).Config.Handler
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "tools/call") {
			l.mu.Lock()
			l.bodies = append(l.bodies, string(body))
			if len(r.TransferEncoding) > 0 || r.ContentLength != int64(len(body)) || len(r.Trailer) > 0 || r.Header.Get("Upgrade")+r.Header.Get("X-Trailer") != "" {
				l.odd = append(l.odd, fmt.Sprint(r.TransferEncoding, r.ContentLength, r.Trailer, r.Header))
			}
			l.mu.Unlock()
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		plain.ServeHTTP(w, r)
	}))
	t.Cleanup(l.Close)
	return l
}

// taken returns what came since it was last asked.
func (l *ledger) taken() (bodies, odd []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bodies, odd = l.bodies, l.odd
	l.bodies, l.odd = nil, nil
	return bodies, odd
}

// Requests whose end is in doubt are refused whole, or read one way: nothing
// reaches the server twice, altered, or in the framing of the client.
func TestRequestSmuggling(t *testing.T) {
	up := newLedger(t)
	site, s, end := bridgeTo(t, up.URL+"/mcp")
	one := &client{t: t, endpoint: site + "/mcp"}
	one.initialize("2025-11-25")
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}`
	n := len(call)
	head := "Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\nMcp-Session-Id: " + one.session + "\r\n"
	post := "POST /mcp HTTP/1.1\r\n" + head
	sized := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", n, call)
	chunked := "Transfer-Encoding: chunked\r\n"
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", n, call)
	for name, c := range map[string]struct {
		text    string
		status  int // of the first answer; 0 is none
		reaches int
	}{
		"plain":                     {post + sized, 200, 1},
		"chunks":                    {post + chunked + "\r\n" + chunks, 200, 1},
		"two lengths":               {post + "Content-Length: 5\r\n" + sized, 400, 0},
		"one length twice":          {post + fmt.Sprintf("Content-Length: %d\r\n", n) + sized, 200, 1},
		"a list of lengths":         {post + fmt.Sprintf("Content-Length: %d, %d\r\n\r\n%s", n, n, call), 400, 0},
		"a signed length":           {post + fmt.Sprintf("Content-Length: +%d\r\n\r\n%s", n, call), 400, 0},
		"a negative length":         {post + "Content-Length: -1\r\n\r\n" + call, 400, 0},
		"a length in hex":           {post + fmt.Sprintf("Content-Length: 0x%x\r\n\r\n%s", n, call), 400, 0},
		"a length too long":         {post + "Content-Length: 99999999999999999999\r\n\r\n" + call, 400, 0},
		"a blank before the colon":  {post + fmt.Sprintf("Content-Length : %d\r\n\r\n%s", n, call), 400, 0},
		"a bare CR":                 {post + "X-A: b\rContent-Length: 5\r\n" + sized, 400, 0},
		"a NUL":                     {post + "X-A: b\x00c\r\n" + sized, 400, 0},
		"a body cut short":          {post + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", n-1, call), 400, 0},
		"bytes after the body":      {post + sized + "GARBAGE\r\n\r\n", 200, 1},
		"unknown coding":            {post + "Transfer-Encoding: xchunked\r\n\r\n" + chunks, 501, 0},
		"two codings":               {post + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks, 501, 0},
		"chunked twice":             {post + chunked + chunked + "\r\n" + chunks, 501, 0},
		"identity":                  {post + "Transfer-Encoding: identity\r\n" + sized, 501, 0},
		"chunks in HTTP/1.0":        {"POST /mcp HTTP/1.0\r\n" + head + chunked + "\r\n" + chunks, 400, 0},
		"length and chunks":         {post + chunked + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(chunks)) + chunks, 200, 1},
		"chunk size overflows":      {post + chunked + "\r\nfffffffffffffffff\r\n" + call + "\r\n0\r\n\r\n", 400, 0},
		"chunk size signed":         {post + chunked + fmt.Sprintf("\r\n+%x\r\n%s\r\n0\r\n\r\n", n, call), 400, 0},
		"chunk size with 0x":        {post + chunked + fmt.Sprintf("\r\n0x%x\r\n%s\r\n0\r\n\r\n", n, call), 400, 0},
		"chunk without its end":     {post + chunked + fmt.Sprintf("\r\n%x\r\n%sXX0\r\n\r\n", n, call), 400, 0},
		"chunk extension":           {post + chunked + fmt.Sprintf("\r\n%x;a=\"b\"\r\n%s\r\n0\r\n\r\n", n, call), 200, 1},
		"trailers":                  {post + chunked + "Trailer: Authorization, X-Trailer\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\nAuthorization: Bearer t\r\nX-Trailer: 1\r\n\r\n", n, call), 200, 1},
		"no host":                   {strings.Replace(post, "Host: localhost\r\n", "", 1) + sized, 400, 0},
		"two hosts":                 {post + "Host: localhost\r\n" + sized, 400, 0},
		"another host in the line":  {strings.Replace(post, "/mcp", "http://evil.example/mcp", 1) + sized, 403, 0},
		"an upgrade to clear HTTP2": {post + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n" + sized, 200, 1},
		"a blank in the path":       {strings.Replace(post, "/mcp", "/mcp /x", 1) + sized, 400, 0},
		"a body with GET":           {strings.Replace(post, "POST", "GET", 1) + sized, 405, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if status := exchangeRaw(t, site, c.text); status != c.status {
				t.Errorf("answered %d, want %d", status, c.status)
			}
			bodies, odd := up.taken()
			if len(bodies) != c.reaches || len(odd) > 0 {
				t.Errorf("%d reach the server, want %d; with %q", len(bodies), c.reaches, odd)
			}
			for _, body := range bodies {
				if !strings.HasPrefix(body, `{"jsonrpc":"2.0","id":`) || !strings.HasSuffix(body, `"method":"tools/call","params":{"name":"x"}}`) {
					t.Errorf("the server was sent %s", body)
				}
			}
		})
	}
	if code := end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.err)
	}
}

// exchangeRaw sends a text as it is and no more, reads all that is answered,
// and returns the status of the first answer, 0 for none.
func exchangeRaw(t *testing.T, site, text string) int {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(site, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = conn.(*net.TCPConn).CloseWrite() // nothing more comes
	_, _ = io.Copy(io.Discard, in)       // until all that was sent is dealt with
	return resp.StatusCode
}
