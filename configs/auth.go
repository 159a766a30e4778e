package configs

import (
	"slices"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Auth is who is let in to a route, where its server does not see to that
// itself. The zero value lets everybody in.
type Auth struct {
	Tokens       []Token
	Issuers      []Issuer
	Certificates CertificateIdentity
}

// Token is a bearer token that the operator chose.
type Token struct {
	Name   string // whom it belongs to
	Secret string
}

// Issuer is an authorization server whose JSON Web Tokens are taken.
type Issuer struct {
	Issuer, JWKSFile                    string
	JWKS, Audiences, Scopes, Algorithms []string
	Leeway                              time.Duration
}

// CertificateIdentity is what of a client's certificate says who it is.
type CertificateIdentity string

// The parts of a certificate.
const (
	CertificatesNone    CertificateIdentity = ""
	CertificatesSubject CertificateIdentity = "subject"
	CertificatesURI     CertificateIdentity = "uri"
)

// CertificateIdentities returns the parts that may say it.
func CertificateIdentities() []string {
	return []string{string(CertificatesSubject), string(CertificatesURI)}
}

// Given reports whether clients must authenticate.
func (a Auth) Given() bool {
	return len(a.Tokens) > 0 || len(a.Issuers) > 0 || a.Certificates != CertificatesNone
}

func (a *Auth) fields() object {
	return object{
		{key: "tokens", value: tokens{&a.Tokens}, doc: "Bearer tokens by the name of whom each belongs to, as {alice: \"${ALICE_TOKEN}\"}; at least 16 characters."},
		{key: "issuers", value: issuers{&a.Issuers}, doc: "Authorization servers whose JSON Web Tokens are taken, as {issuer: URL, jwks: URL, audiences: [URL]}."},
		{key: "certificates", value: choice[CertificateIdentity]{&a.Certificates, CertificateIdentities()}, doc: "Take client certificates of tls.client_ca_file, and what of them says who it is."},
	}
}

// tokens are secrets by name.
type tokens struct{ of *[]Token }

func (v tokens) bind(r *reader, at string, n ast.Node) {
	pairs, ok := r.mapping(at, n)
	if !ok {
		return
	}
	all := []Token{}
	for _, p := range pairs {
		if secret, ok := r.scalar(joined(at, p.key), p.value); ok {
			all = append(all, Token{p.key, secret})
		}
	}
	*v.of = all
}

func (v tokens) schema() schema {
	return schema{"type": []string{"object", "null"}, "additionalProperties": schema{"type": "string"}}
}

func (v tokens) lines() []string { return []string{"{}"} }

// issuers is a list of issuers.
type issuers struct{ of *[]Issuer }

func (v issuers) bind(r *reader, at string, n ast.Node) {
	var all []Issuer
	for i, item := range r.sequence(at, n) {
		var one Issuer
		one.fields().bind(r, at+"["+strconv.Itoa(i)+"]", item)
		all = append(all, one)
	}
	*v.of = all
}

func (v issuers) schema() schema {
	item := new(Issuer).fields().schema()
	item["required"] = []string{"issuer", "audiences"}
	return schema{"type": "array", "items": item}
}

func (v issuers) lines() []string { return []string{"[]"} }

func (i *Issuer) fields() object {
	return object{
		{key: "issuer", value: text[string]{of: &i.Issuer}, doc: "Its name, as it stands in the iss claim."},
		{key: "jwks", value: list[string]{of: &i.JWKS}, doc: "URLs of its key sets: https, or http on this machine."},
		{key: "jwks_file", value: location{&i.JWKSFile}, doc: "A file with a key set, beside or instead of URLs."},
		{key: "audiences", value: list[string]{of: &i.Audiences}, doc: "What this server is called in tokens; one must be in the aud claim."},
		{key: "scopes", value: list[string]{of: &i.Scopes}, doc: "Scopes that a token must have, all of them."},
		{key: "algorithms", value: list[string]{of: &i.Algorithms}, doc: "Signature algorithms; without it, all that are safe."},
		{key: "leeway", value: span{&i.Leeway}, doc: "How much the clocks may differ; without it, 30s."},
	}
}

func (a Auth) check(p *Problems) {
	if a.Certificates != CertificatesNone {
		p.oneOf("auth.certificates", string(a.Certificates), CertificateIdentities())
	}
	for i, t := range a.Tokens {
		if slices.IndexFunc(a.Tokens, func(other Token) bool { return other.Secret == t.Secret }) != i {
			p.add("auth.tokens."+t.Name, "another name has the same token; one that two share says nothing of who it is")
		}
	}
	for i, one := range a.Issuers {
		at := "auth.issuers[" + strconv.Itoa(i) + "]"
		switch {
		case one.Issuer == "":
			p.add(at+".issuer", "an issuer needs its name, as it stands in the iss claim of its tokens")
		case len(one.JWKS) == 0 && one.JWKSFile == "":
			p.add(at, "its keys are not known; give the URL of its key set as jwks, or a file as jwks_file")
		case len(one.Audiences) == 0:
			p.add(at, "audiences are missing; without them a token for any other service would be taken")
		}
	}
}
