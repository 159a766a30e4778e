package auth

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestParseBearer(t *testing.T) {
	for header, want := range map[string]struct {
		token  string
		reason Reason
	}{
		"Bearer abc":           {"abc", accepted},
		"bearer abc":           {"abc", accepted},
		"BEARER   a-._~+/Z9==": {"a-._~+/Z9==", accepted},
		"Basic abc":            {"", NoCredential},
		"":                     {"", NoCredential},
		"Bearerabc":            {"", NoCredential},
		"Bearer":               {"", Malformed},
		"Bearer ":              {"", Malformed},
		"Bearer ==":            {"", Malformed},
		"Bearer a=b":           {"", Malformed},
		"Bearer a b":           {"", Malformed},
		"Bearer a, Bearer b":   {"", Malformed},
		"Bearer a ":            {"", Malformed},
		"Bearer\ta":            {"", NoCredential},
		"Bearer ä":             {"", Malformed},
		"Bearer a\x00":         {"", Malformed},
		"Bearer " + strings.Repeat("a", MaxToken):       {strings.Repeat("a", MaxToken), accepted},
		"Bearer " + strings.Repeat("a", MaxToken+1):     {"", TooLong},
		"Bearer " + strings.Repeat(" ", MaxToken) + "a": {"", TooLong},
	} {
		if token, reason := parseBearer(header); token != want.token || reason != want.reason {
			t.Errorf("%.40q: token %.20q, reason %q; want %.20q, %q", header, token, reason, want.token, want.reason)
		}
	}
}

func TestTokensInURLsAreRefused(t *testing.T) {
	a := newAuthenticator(t, newClock(), Config{Tokens: []Token{{Name: "ci", Secret: secret}}})
	for query, want := range map[string]Reason{
		"":                                accepted,
		"?q=access_token":                 accepted,
		"?access_token=" + secret:         TokenInQuery,
		"?a=1&Access_Token=x":             TokenInQuery,
		"?acc%65ss_token=x":               TokenInQuery,
		"?%zz&access_token=x":             TokenInQuery,
		"?access_token":                   TokenInQuery,
		"?sessionId=1&my_access_token=no": accepted,
	} {
		r := httptest.NewRequest("POST", "http://bridge.example/mcp"+query, nil)
		r.Header.Set("Authorization", "Bearer "+secret)
		_, p := a.Check(r)
		switch {
		case p == nil && want != accepted:
			t.Errorf("%s: let in", query)
		case p != nil && (p.Reason != want || p.Status != 400 || p.Challenge != `Bearer error="invalid_request"`):
			t.Errorf("%s: %+v; want %q", query, p, want)
		}
	}
}

func TestSeveralHeadersAreRefused(t *testing.T) {
	a := newAuthenticator(t, newClock(), Config{Tokens: []Token{{Name: "ci", Secret: secret}}})
	_, p := a.Check(request("Bearer "+secret, "Bearer "+secret))
	if p == nil || p.Reason != SeveralHeaders || p.Status != 400 {
		t.Errorf("problem %+v", p)
	}
	_, p = a.Check(request("Bearer " + strings.Repeat("a", MaxToken+1)))
	if p == nil || p.Reason != TooLong || p.Status != 400 {
		t.Errorf("problem %+v", p)
	}
}

// Whatever a header holds, a token that comes out of it was in it, whole, and
// is one that RFC 6750 allows.
func FuzzParseBearer(f *testing.F) {
	for _, seed := range []string{"Bearer abc", "bearer  a=", "Basic x", "Bearer", "Bearer a, Bearer b", "", "Bearer \xff", "Bearer a.b.c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		token, reason := parseBearer(header)
		if (token == "") != (reason != accepted) {
			t.Fatalf("token %q with reason %q", token, reason)
		}
		if token == "" {
			return
		}
		if len(token) > MaxToken || strings.Trim(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=") != "" {
			t.Fatalf("%q is no token", token)
		}
		before, found := strings.CutSuffix(header, token)
		if !found || !strings.EqualFold(strings.TrimRight(before, " "), "bearer") || !strings.HasSuffix(before, " ") {
			t.Fatalf("%q is not what %q holds", token, header)
		}
	})
}
