package auth

import (
	"context"
	"maps"
	"net/http"
)

// Hooks are how a listener takes part in the check of its requests. All may
// be zero.
type Hooks struct {
	// Forward leaves the Authorization header in place, for an upstream that
	// is to get the client's own. Otherwise nobody behind sees it.
	Forward bool
	// Mark returns a context that also tells others who the request speaks for;
	// what it gets carries the identity and the lease.
	Mark func(context.Context, Identity) context.Context
	// Refused is told of requests that are refused.
	Refused func(*http.Request, *Problem)
}

// Wrap returns a handler that lets next serve what authenticates and answers
// the rest itself. The context of a request carries the identity ([From]). For
// a GET, which opens something that has no end of its own, it also carries a
// lease ([LeaseFrom]) and ends with it.
func (a *Authenticator) Wrap(next http.Handler, hooks Hooks) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, problem := a.Check(r)
		if problem != nil {
			if hooks.Refused != nil {
				hooks.Refused(r, problem)
			}
			problem.ServeHTTP(w, r)
			return
		}
		ctx := With(r.Context(), id)
		if r.Method == http.MethodGet {
			var lease *Lease
			ctx, lease = NewLease(ctx, id)
			defer lease.Close()
		}
		if hooks.Mark != nil {
			ctx = hooks.Mark(ctx, id)
		}
		r = r.WithContext(ctx)
		if !hooks.Forward {
			r.Header = maps.Clone(r.Header) // the original is the server's
			r.Header.Del("Authorization")
		}
		next.ServeHTTP(w, r)
	})
}
