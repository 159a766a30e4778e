package main

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/internal/auth"
	"github.com/mcpbridge/mcpbridge/internal/oauth"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// front stands before the transports of a route and lets in who authenticates.
// What it asks for can change while it serves.
type front struct {
	guard *transports.Guard
	now   atomic.Pointer[entrance]
}

// entrance is what a front asks for; without an authenticator nothing.
type entrance struct {
	auth  *auth.Authenticator
	hooks auth.Hooks
}

// newEntrance makes what a route asks of its clients.
func newEntrance(r configs.Route, c common, login *oauth.Discovery) (*entrance, error) {
	if !r.Auth.Given() {
		return &entrance{}, nil
	}
	config, err := authOf(r.Auth, c.clientCAFile)
	if err != nil {
		return nil, err
	}
	config.ResourceMetadata = func(r *http.Request) string { return login.Metadata(c.at(r)) }
	config.Trouble = func(err error) {
		c.log.Warn().Str("cause", configs.Cause(err)).Msg("the keys of an issuer cannot be loaded; tokens are judged by those that are known")
	}
	a, err := auth.New(config)
	if err != nil {
		return nil, err
	}
	return &entrance{auth: a, hooks: auth.Hooks{
		Forward: slices.ContainsFunc(r.Servers(), forwards),
		Mark:    speaking,
		Refused: func(_ *http.Request, p *auth.Problem) {
			c.metrics.Failed(mcp.Client, string(p.Reason))
			c.log.Debug().Str("reason", string(p.Reason)).Int("status", p.Status).Msg("a request was not let in")
		},
	}}, nil
}

// speaking tells the transports who a request speaks for.
func speaking(ctx context.Context, id auth.Identity) context.Context {
	lease := auth.LeaseFrom(ctx)
	return transports.WithSpeaker(ctx, &transports.Speaker{
		Principal: id.Principal(), Until: id.Until(),
		Renew: func(later context.Context) bool {
			return lease != nil && lease.Renew(auth.From(later))
		},
	})
}

// authOf translates a configuration. The authorities of certificates are those
// of the listener.
func authOf(a configs.Auth, clientCAFile string) (auth.Config, error) {
	var config auth.Config
	for _, t := range a.Tokens {
		one := auth.Token{Name: t.Name, Secret: t.Secret}
		if sum, hashed := strings.CutPrefix(t.Secret, "sha256:"); hashed {
			one.Secret, one.SHA256 = "", sum
		}
		config.Tokens = append(config.Tokens, one)
	}
	for _, i := range a.Issuers {
		config.Issuers = append(config.Issuers, auth.Issuer{
			Issuer: i.Issuer, JWKS: i.JWKS, JWKSFile: i.JWKSFile, Audiences: i.Audiences,
			Scopes: i.Scopes, Algorithms: i.Algorithms, Leeway: i.Leeway,
		})
	}
	if a.Certificates != configs.CertificatesNone {
		authorities, err := certificatesOf(clientCAFile)
		if err != nil {
			return config, err
		}
		config.Certificates = &auth.Certificates{Authorities: authorities, URI: a.Certificates == configs.CertificatesURI}
	}
	return config, nil
}

// certificatesOf reads a file of certificates in PEM.
func certificatesOf(file string) ([]*x509.Certificate, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// checkTime is longer than the check of a request takes.
const checkTime = time.Minute

// put makes the front ask for something else from now on.
func (f *front) put(e *entrance, log zerolog.Logger) {
	before := f.now.Swap(e)
	if e.auth != nil {
		go func() {
			if err := e.auth.Warm(context.Background()); err != nil {
				log.Warn().Str("cause", configs.Cause(err)).Msg("the keys of an issuer could not be loaded yet; its tokens are not taken until they are")
			}
		}()
	}
	if before != nil && before.auth != nil {
		time.AfterFunc(checkTime, before.auth.Close) // requests that it looks at are let finish
	}
}

// close ends what the front does beside its requests.
func (f *front) close() { f.now.Load().close() }

func (e *entrance) close() {
	if e.auth != nil {
		e.auth.Close()
	}
}

// before returns a handler that lets next serve who is let in. A request that
// the guard refuses is left to next, which refuses it before all else.
func (f *front) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := f.now.Load()
		if e.auth == nil || f.guard.Check(r) != nil {
			next.ServeHTTP(w, r)
			return
		}
		e.auth.Wrap(next, e.hooks).ServeHTTP(w, r)
	})
}
