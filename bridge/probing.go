package bridge

import (
	"context"
	"time"

	"github.com/mcpbridge/mcpbridge/negotiate"
)

// probing is how the server is asked what it is. Nothing may be asked in a
// conversation that is shared, which may have begun.
func (b *Bridge) probing() negotiate.Probe {
	if b.shared != nil && b.Probe == negotiate.ProbeInline {
		return negotiate.ProbeAuto
	}
	return b.Probe
}

// askedEra returns what is known of the upstream's era, after asking as the
// operator chose; auto says whether it is asked where the operator chose
// nothing.
func (c *conversation) askedEra(ctx context.Context, auto bool, wait time.Duration) verdict {
	switch c.bridge.probing() {
	case negotiate.ProbeNever: // what handshakes have told
		v, _ := c.bridge.eras.get(c.owner.principal)
		return v
	case negotiate.ProbeInline:
		return c.inlineEra(ctx)
	case negotiate.ProbeSibling:
		auto = true
	}
	if !auto {
		return verdict{}
	}
	return c.era(ctx, wait)
}

// askedAgain returns the era of a server that refused a handshake as those do
// that have none.
func (c *conversation) askedAgain(ctx context.Context) verdict {
	switch c.bridge.probing() {
	case negotiate.ProbeNever:
		return verdict{guess: true}
	case negotiate.ProbeInline:
		c.wire.Reset()
		return c.inlineEra(ctx)
	}
	return c.era(ctx, probeMax)
}

// inlineEra asks in the conversation itself. A server behind a pipe that ends
// at that, or stays silent, is started again by the handshake that follows; one
// that answered goes on.
func (c *conversation) inlineEra(ctx context.Context) verdict {
	b, p := c.bridge, c.owner.principal
	if v, ok := b.eras.get(p); ok {
		return v
	}
	done, first, end := b.eras.begin(p)
	if !first {
		select {
		case <-done:
		case <-ctx.Done():
		}
		v, _ := b.eras.get(p)
		return v
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, min(probeMax, b.HandshakeTimeout/2))
	defer cancel()
	v, ok := c.probe(ctx)
	if ok {
		by := ByProbe
		if v.guess {
			by = ByFallback
		}
		b.judge(p, v, by)
	}
	if v.era != negotiate.Stateless && c.routed() {
		c.wire.Reset() // the version that was agreed for the probe
	}
	return v
}
