package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// authorized lets in who bears the token. Probes are let in without: that the
// process runs is no secret, and of readiness they hear no reason.
func (s Settings) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		probe := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
		if probe || s.bears(r) {
			next.ServeHTTP(w, r)
			return
		}
		challenge := `Bearer realm="mcpbridge admin"`
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		text(w, http.StatusUnauthorized, "unauthorized: send the admin token as Authorization: Bearer TOKEN")
	})
}

// bears reports whether a request has the token, in a time that does not tell
// how much of it is right.
func (s Settings) bears(r *http.Request) bool {
	token := ""
	if s.Token != nil {
		token = s.Token()
	}
	if token == "" {
		return true
	}
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(shown))), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}
