package auth

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

type marked struct{}

func TestWrap(t *testing.T) {
	config := Config{
		Tokens:           []Token{{Name: "ci", Secret: secret}},
		ResourceMetadata: func(r *http.Request) string { return "https://" + r.Host + "/.well-known/oauth-protected-resource/mcp" },
	}
	a := newAuthenticator(t, newClock(), config)
	for _, forward := range []bool{false, true} {
		var seen *http.Request
		var refusals []Reason
		next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen = r })
		h := a.Wrap(next, Hooks{
			Forward: forward,
			Mark:    func(ctx context.Context, i Identity) context.Context { return context.WithValue(ctx, marked{}, i.Name) },
			Refused: func(_ *http.Request, p *Problem) { refusals = append(refusals, p.Reason) },
		})
		r := request("Bearer " + secret)
		r.Header.Set("X-Other", "1")
		h.ServeHTTP(httptest.NewRecorder(), r)
		if seen == nil || From(seen.Context()).Name != "ci" || seen.Context().Value(marked{}) != "ci" || seen.Header.Get("X-Other") != "1" {
			t.Fatalf("served %+v", seen)
		}
		if LeaseFrom(seen.Context()) != nil {
			t.Error("a POST stands under a lease")
		}
		if has := seen.Header.Get("Authorization") != ""; has != forward || r.Header.Get("Authorization") == "" {
			t.Errorf("forward %v, Authorization %v, in the original %q", forward, has, r.Header)
		}
		seen = nil
		out := httptest.NewRecorder()
		h.ServeHTTP(out, request())
		if seen != nil || len(refusals) != 1 || refusals[0] != NoCredential {
			t.Errorf("served %v, refused %v", seen, refusals)
		}
		const want = `Bearer resource_metadata="https://bridge.example/.well-known/oauth-protected-resource/mcp"`
		if out.Code != 401 || out.Header().Get("WWW-Authenticate") != want || out.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%d %v", out.Code, out.Header())
		}
		body, err := io.ReadAll(out.Result().Body)
		if err != nil {
			t.Fatal(err)
		}
		m, err := mcp.DecodeMessage(body)
		if err != nil || m.Kind != mcp.Failure || m.Body.Text("message") != textNone {
			t.Errorf("%s, %v", body, err)
		}
	}
	a.Wrap(http.NotFoundHandler(), Hooks{}).ServeHTTP(httptest.NewRecorder(), request()) // without hooks
}

// What a GET opens ends with the token; an answer does not.
func TestWrapEndsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := New(Config{Tokens: []Token{{Name: "ci", Secret: secret}}})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		var cause error
		next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			lease := LeaseFrom(r.Context())
			if lease == nil || r.Context().Err() != nil {
				t.Fatal("a GET stands under no lease")
			}
			short, own := NewLease(r.Context(), Identity{until: time.Now().Add(time.Second)})
			defer own.Close()
			<-short.Done()
			cause = context.Cause(short)
		})
		r := request("Bearer " + secret)
		r.Method = http.MethodGet
		var carried *Lease
		a.Wrap(next, Hooks{Mark: func(ctx context.Context, _ Identity) context.Context {
			carried = LeaseFrom(ctx)
			return ctx
		}}).ServeHTTP(httptest.NewRecorder(), r)
		if carried == nil || carried.Renew(Identity{Kind: Static, Name: "other"}) {
			t.Error("who marks the context sees no lease, or one of somebody else")
		}
		if !errors.Is(cause, ErrExpired) {
			t.Errorf("cause %v", cause)
		}
		if From(t.Context()) != (Identity{}) {
			t.Error("a context without identity has one")
		}
	})
}

func TestMetadataCannotBreakTheHeader(t *testing.T) {
	where := ""
	a := newAuthenticator(t, newClock(), Config{
		Tokens: []Token{{Name: "ci", Secret: secret}}, ResourceMetadata: func(*http.Request) string { return where },
	})
	for text, ok := range map[string]bool{
		"https://a.example/x": true, "": false, `https://a/", error="x`: false, "https://a/\r\nSet-Cookie: x": false, "https://a/ b": false,
		`https://a/\`: false, "https://ä.example": false,
	} {
		where = text
		_, p := a.Check(request())
		want := "Bearer"
		if ok {
			want += ` resource_metadata="` + text + `"`
		}
		if p.Challenge != want {
			t.Errorf("%q: %s", text, p.Challenge)
		}
	}
}
