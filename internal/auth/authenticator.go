package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"time"
)

// Authenticator finds out who requests speak for. It is safe for concurrent
// use. Close ends it.
type Authenticator struct {
	tokens           *tokens
	issuers          map[string]*issuer
	certificates     *Certificates
	scopes           []string // of all issuers
	resourceMetadata func(*http.Request) string
	seen             *seen
	slots            slots
	now              func() time.Time

	client *http.Client
	end    context.CancelFunc
	loads  sync.WaitGroup
}

// New returns an authenticator. It loads nothing yet: see Warm. Its errors
// are for the operator and hold nothing of a token.
func New(c Config) (*Authenticator, error) { return newWith(c, time.Now) }

func newWith(c Config, now func() time.Time) (*Authenticator, error) {
	static, err := newTokens(c.Tokens)
	if err = errors.Join(c.check(), err); err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	if c.Trouble == nil {
		c.Trouble = func(error) {}
	}
	life, end := context.WithCancel(context.Background())
	a := &Authenticator{
		tokens: static, issuers: map[string]*issuer{}, certificates: c.Certificates,
		scopes: union(c.Issuers), resourceMetadata: c.ResourceMetadata,
		seen: newSeen(), slots: make(slots, max(1, runtime.GOMAXPROCS(0)/2)), now: now,
		client: newClient(c.TLS), end: end,
	}
	for _, i := range c.Issuers {
		if err := a.add(life, i, c.Trouble); err != nil {
			end()
			return nil, fmt.Errorf("auth: issuer %q: %w", i.Issuer, err)
		}
	}
	return a, nil
}

func (a *Authenticator) add(life context.Context, config Issuer, trouble func(error)) error {
	config, err := config.settled()
	if err != nil {
		return err
	}
	if a.issuers[config.Issuer] != nil {
		return errors.New("it is given twice")
	}
	i := newIssuer(config)
	from := func(name string, load func(context.Context) ([]byte, error)) {
		i.sources = append(i.sources, &source{
			name: name, load: load, maxAge: config.MaxAge, now: a.now, trouble: trouble, life: life, loads: &a.loads,
		})
	}
	for _, u := range config.JWKS {
		name, err := checkURL(u)
		if err != nil {
			return err
		}
		from(name, fetch(a.client, u))
	}
	if config.JWKSFile != "" {
		from("the file "+config.JWKSFile, readFile(config.JWKSFile))
	}
	a.issuers[config.Issuer] = i
	return nil
}

// Warm loads all key sets that are not loaded yet, so that the first client
// need not wait and the operator hears at once of one that cannot be.
func (a *Authenticator) Warm(ctx context.Context) error {
	var failed []error
	for _, s := range a.sources() {
		s.usable() // begins a load; all run at once
	}
	for _, s := range a.sources() {
		failed = append(failed, s.warm(ctx))
	}
	return errors.Join(failed...)
}

// Close ends what runs in the background. Requests after it are judged by the
// keys that are known.
func (a *Authenticator) Close() {
	a.end()
	for _, s := range a.sources() {
		s.close()
	}
	a.loads.Wait()
	a.client.CloseIdleConnections()
}

func (a *Authenticator) sources() (all []*source) {
	for _, i := range a.issuers {
		all = append(all, i.sources...)
	}
	return all
}

// bearer reports whether the Authorization header is for the bridge.
func (a *Authenticator) bearer() bool { return len(a.tokens.names) > 0 || len(a.issuers) > 0 }

// Check returns who a request speaks for, or how it must be answered. A
// bearer token goes before a certificate: a client that shows a wrong one is
// refused, whatever its connection proves.
//
// The check is good for this request alone: see [Identity.Until].
func (a *Authenticator) Check(r *http.Request) (Identity, *Problem) {
	reason := NoCredential
	if a.bearer() {
		var token string
		if token, reason = presented(r); reason == accepted {
			return a.checkToken(r, token)
		}
	}
	if reason == NoCredential && a.certificates != nil && r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		id, ok := a.certificates.identify(r.TLS, a.now())
		if ok {
			return id, nil
		}
		reason = BadCertificate
	}
	return Identity{}, a.problem(r, reason, nil)
}

func (a *Authenticator) checkToken(r *http.Request, token string) (Identity, *Problem) {
	if name, ok := a.tokens.find(token); ok {
		return Identity{Kind: Static, Name: name}, nil
	}
	if len(a.issuers) == 0 {
		return Identity{}, a.problem(r, UnknownToken, nil)
	}
	p, reason := a.proof(r.Context(), token)
	switch {
	case reason != accepted:
		return Identity{}, a.problem(r, reason, nil)
	case !p.shown(r.TLS):
		return Identity{}, a.problem(r, NotBound, nil)
	case !p.scoped:
		return Identity{}, a.problem(r, MissingScope, p.issuer.Scopes)
	}
	return p.identity, nil
}

// proof returns what a JSON Web Token proves. One that was seen before costs
// no signature, unless the keys have changed since.
func (a *Authenticator) proof(ctx context.Context, token string) (*proof, Reason) {
	sum := sha256.Sum256([]byte(token))
	now := a.now()
	if p := a.seen.get(sum); p != nil && p.holds(now) {
		return p, accepted
	}
	p, reason := a.prove(ctx, token, now)
	if reason == accepted {
		a.seen.put(sum, p, now)
	}
	return p, reason
}

func (a *Authenticator) prove(ctx context.Context, token string, now time.Time) (*proof, Reason) {
	c, reason := parseClaimed(token)
	if reason != accepted {
		return nil, reason
	}
	i := a.issuers[c.Issuer]
	if i == nil {
		return nil, WrongIssuer
	}
	if reason := i.admits(c, now); reason != accepted {
		return nil, reason
	}
	keys, reason := i.find(ctx, c)
	if reason != accepted {
		return nil, reason
	}
	if !a.slots.take(ctx) {
		return nil, TooManyAtOnce
	}
	defer a.slots.release()
	by := i.signed(token, keys)
	if by == nil {
		return nil, BadSignature
	}
	return i.proof(c, by), accepted
}
