package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// socketDir is a directory whose path leaves room for the name of a socket.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mcp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// over makes http.DefaultClient's kind of client connect to a socket file.
func over(t *testing.T, path string) *http.Client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func statusOf(t *testing.T, c *http.Client, url, host string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// TestServeOnSocketFiles serves the endpoint and the admin listener on socket
// files.
func TestServeOnSocketFiles(t *testing.T) {
	dir := socketDir(t)
	endpoint, admin := filepath.Join(dir, "mcp.sock"), filepath.Join(dir, "admin.sock")
	s := newSurroundings(nil)
	code := make(chan int, 1)
	go func() {
		code <- run([]string{"serve", upstream(t).URL + "/mcp", "--listen", "unix:" + endpoint, "--admin", "unix://" + admin}, s.process())
	}()
	var line struct{ Endpoint, SSE, Websocket, Admin string }
	if err := json.Unmarshal([]byte(s.err.await(t, `"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	at := "unix:" + endpoint + ":"
	if line.Endpoint != "http://"+at+"/mcp" || line.SSE != "http://"+at+"/sse" || line.Websocket != "ws://"+at+"/ws" || line.Admin != "http://unix:"+admin+":/" {
		t.Errorf("announced %+v", line)
	}
	for host, want := range map[string]int{"localhost": 200, "127.0.0.1:8080": 200, "evil.example": 403} {
		if got := statusOf(t, over(t, endpoint), "http://localhost/mcp", host); got != want {
			t.Errorf("Host %s: status %d, want %d", host, got, want)
		}
	}
	resp, err := over(t, admin).Get("http://localhost/readyz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("readyz: %d", resp.StatusCode)
	}
	if info, err := os.Lstat(endpoint); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o660 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	s.stop <- syscall.SIGTERM
	if got := <-code; got != 0 || strings.Contains(s.err.String(), "other machines") {
		t.Errorf("exit code %d:\n%s", got, s.err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// leaveBehind makes a socket file on which nobody listens.
func leaveBehind(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
}

func TestListenUnix(t *testing.T) {
	dir := socketDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	leaveBehind(t, at("stale"))
	live, err := net.Listen("unix", at("live"))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if err := os.WriteFile(at("file"), []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("nothing"), at("link")); err != nil {
		t.Skip("this system has no symbolic links for everybody: ", err)
	}
	for name, problem := range map[string]string{
		"new": "", "stale": "",
		"live":     "another process listens on that socket; choose another with --listen",
		"file":     "there is a file that is no socket, and it is left alone; choose",
		"link":     "there is a file that is no socket, and it is left alone; choose",
		"no/where": "the directory of the socket does not exist; create it; choose",
		"file/x":   "a part of the path is no directory; choose",
	} {
		l, err := listen("unix:"+at(name), "--listen")
		switch {
		case problem != "" && (err == nil || !strings.HasPrefix(err.Error(), "listen unix:"+at(name)+": "+problem)):
			t.Errorf("%s: %v", name, err)
		case problem == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		}
		if l == nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
		if _, err := os.Lstat(at(name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: left behind: %v", name, err)
		}
	}
	if text, err := os.ReadFile(at("file")); err != nil || string(text) != "precious" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if c, err := net.Dial("unix", at("live")); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
}

// What another process has put in place of the socket file is not removed.
func TestSocketFileOfAnother(t *testing.T) {
	path := filepath.Join(socketDir(t), "s")
	l, err := listen("unix:"+path, "--listen")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".old"); err != nil { // its inode stays in use
		t.Fatal(err)
	}
	other, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	l.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}
