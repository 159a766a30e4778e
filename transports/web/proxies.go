package web

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
)

// Proxies are the peers of a listener whose X-Forwarded-* fields count. Anybody
// can write such a field, so those of other peers are not read. The zero value
// trusts loopback peers; those on a socket file are always trusted, as its
// permissions say who may connect. It is safe for concurrent use.
type Proxies struct {
	now atomic.Pointer[[]netip.Prefix]
}

// Trust sets whose fields count from now on: nil is loopback peers, an empty
// list nobody.
func (p *Proxies) Trust(networks []netip.Prefix) {
	if networks == nil {
		p.now.Store(nil)
		return
	}
	networks = slices.Clone(networks)
	p.now.Store(&networks)
}

func (p *Proxies) trusts(a netip.Addr) bool {
	networks := p.now.Load()
	if networks == nil {
		return a.IsLoopback()
	}
	return slices.ContainsFunc(*networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

type proxiesKey struct{}

// WithProxies returns a context whose requests may come by these proxies. It is
// meant for the BaseContext of an http.Server.
func WithProxies(ctx context.Context, p *Proxies) context.Context {
	return context.WithValue(ctx, proxiesKey{}, p)
}

// proxiesOf returns the proxies of the listener that a request came to.
func proxiesOf(r *http.Request) *Proxies {
	if p, ok := r.Context().Value(proxiesKey{}).(*Proxies); ok {
		return p
	}
	return new(Proxies)
}

// FromProxy reports whether the X-Forwarded-* fields of a request count.
func FromProxy(r *http.Request) bool {
	peer, ok := peerOf(r)
	return !ok || proxiesOf(r).trusts(peer)
}

// peerOf returns who is at the other end of the connection; ok is false for a
// socket file, where nobody has an address.
func peerOf(r *http.Request) (netip.Addr, bool) {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return plainAddr(at.Addr()), err == nil
}

// plainAddr writes one address one way.
func plainAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }
