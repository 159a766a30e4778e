package transports

import (
	"context"
	"time"
)

// Speaker is who a client was found to be by what stands before a transport:
// an identity that was verified, and not only a credential that is passed on.
type Speaker struct {
	// Principal tells identities apart; it is no secret.
	Principal string
	// Until is when the proof runs out; zero is never.
	Until time.Time
	// Renew prolongs what was opened under this proof by that of a later request,
	// whose context is given; false when that is another's. It may be nil.
	Renew func(context.Context) bool
}

type speakerKey struct{}

// WithSpeaker returns a context that tells who a request speaks for.
func WithSpeaker(ctx context.Context, s *Speaker) context.Context {
	return context.WithValue(ctx, speakerKey{}, s)
}

// SpeakerOf returns who the request of a context speaks for, nil where nobody
// verified that.
func SpeakerOf(ctx context.Context) *Speaker {
	s, _ := ctx.Value(speakerKey{}).(*Speaker)
	return s
}

// Prolong renews what was opened by a speaker, on behalf of a later request.
func (s *Speaker) Prolong(ctx context.Context) {
	if s != nil && s.Renew != nil {
		s.Renew(ctx)
	}
}
