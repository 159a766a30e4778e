package interop

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"sync"
	"testing"
)

// ledger knows every credential that was given out and every request that reached a
// server of the test, so that it can tell which came where it had no business.
type ledger struct {
	mu       sync.Mutex
	given    map[string]credential
	requests []request
}

// credential is a token, a code or a secret; home is the one server that may see it, ""
// none. The bridge is no server of the test.
type credential struct{ kind, home string }

// looksSecret finds what may be a credential in any text.
var looksSecret = regexp.MustCompile(`(token|code|secret|renewal)-[A-Z2-7]{26}|eyJ[\w-]+\.[\w-]+\.[\w-]+`)

// request is all the text of a request: address, header and body.
type request struct{ at, text string }

func newLedger() *ledger { return &ledger{given: map[string]credential{}} }

// give makes a credential that cannot be guessed.
func (l *ledger) give(kind, home string) string {
	text := kind + "-" + rand.Text()
	l.note(text, kind, home)
	return text
}

func (l *ledger) note(text, kind, home string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given[text] = credential{kind, home}
}

// watch keeps what reaches a server.
func (l *ledger) watch(at string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == revocation { // which is the test's own
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client left
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var text bytes.Buffer
		fmt.Fprintln(&text, r.Method, r.URL)
		_ = r.Header.Write(&text)
		text.Write(body)
		l.mu.Lock()
		l.requests = append(l.requests, request{at, text.String()})
		l.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// check fails for each credential that a server saw which is not its home, and for one
// that is in a log.
func (l *ledger) check(t *testing.T, logs []string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := map[string]int{}
	for _, r := range l.requests {
		for _, text := range looksSecret.FindAllString(r.text, -1) {
			c, ok := l.given[text]
			if !ok {
				continue
			}
			seen[c.kind]++
			if r.at != c.home {
				t.Errorf("a %s that belongs to %q reached %q by %.60q", c.kind, c.home, r.at, r.text)
			}
		}
	}
	for _, kind := range []string{"token", "code", "secret", "renewal"} {
		if seen[kind] == 0 {
			t.Errorf("no %s reached any server, so that this check is worth nothing", kind)
		}
	}
	for _, path := range logs {
		log, err := os.ReadFile(path)
		must(t, err)
		for _, text := range looksSecret.FindAllString(string(log), -1) {
			if c, ok := l.given[text]; ok {
				t.Errorf("a %s is in the log of a bridge: %s", c.kind, path)
			}
		}
	}
}

// heard counts the requests that reached a server.
func (l *ledger) heard(at string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.requests {
		if r.at == at {
			n++
		}
	}
	return n
}
