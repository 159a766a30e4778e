package interop

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
)

// sign makes a JSON Web Token (RFC 9068).
func (a *authServer) sign(g grant, subject string) string {
	now := time.Now()
	claims := map[string]any{
		"iss": a.issuer, "sub": subject, "client_id": g.client, "scope": g.scope,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "jti": rand.Text(),
	}
	if g.resource != "" {
		claims["aud"] = g.resource
	}
	text := segment(map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "one"}) + "." + segment(claims)
	digest := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, a.key, digest[:])
	if err != nil {
		panic(err) // the key is good
	}
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func segment(value any) string {
	data, _ := json.Marshal(value) //nolint:errchkjson // it holds texts and numbers
	return base64.RawURLEncoding.EncodeToString(data)
}

func (a *authServer) jwks(w http.ResponseWriter, _ *http.Request) {
	point, err := a.key.PublicKey.Bytes()
	if err != nil {
		refuse(w, "server_error")
		return
	}
	encode := base64.RawURLEncoding.EncodeToString
	key := map[string]any{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "one", "x": encode(point[1:33]), "y": encode(point[33:])}
	respond(w, http.StatusOK, map[string]any{"keys": []any{key}})
}
