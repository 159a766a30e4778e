package negotiate

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Handshake is the plan for an initialize toward one server: it says what to
// offer and, after each answer, how to go on. It is not safe for concurrent
// use.
type Handshake struct {
	speaks []mcp.Version // versions that may be offered, oldest first
	known  []mcp.Version // versions that are understood when the server names one
	asked  mcp.Version   // by the client
	tried  []mcp.Version
	offer  Offer
	listed bool // a version that the server named has been tried
}

// Offer is one initialize to send.
type Offer struct {
	Version    mcp.Version
	WithHeader bool // send the version header too: the server asked for it
}

// Verdict says how a handshake goes on: another offer, an agreement, or, when
// both are zero, the end. Fault is then the error for the client, unless the
// server's own answer should reach it.
type Verdict struct {
	Next   *Offer
	Agreed mcp.Version
	Fault  *mcp.Error
}

// NewHandshake returns a plan that offers first, then what the server names
// or, failing that, ever older versions of offers. known lists all versions
// of the bridge; both are sorted, oldest first.
func NewHandshake(first mcp.Version, offers, known []mcp.Version) *Handshake {
	h := &Handshake{speaks: offers, known: known, asked: first, offer: Offer{Version: first}}
	if !slices.Contains(offers, first) {
		h.offer.Version = nearest(first, offers)
	}
	return h
}

// nearest returns the newest of versions that is not newer than v, else the
// oldest.
func nearest(v mcp.Version, versions []mcp.Version) mcp.Version {
	found := versions[0]
	for _, w := range versions {
		if w <= v {
			found = w
		}
	}
	return found
}

// First returns the first offer.
func (h *Handshake) First() Offer { return h.offer }

// Answered takes the server's JSON-RPC answer.
func (h *Handshake) Answered(m *mcp.Message) Verdict {
	if m.Kind == mcp.Failure {
		data, _ := m.Body.Get("data")
		text := slices.Concat([]byte(data), []byte(" "), []byte(m.Body.Text("message")))
		if !refusesVersion(m.Code(), text) {
			return Verdict{}
		}
		return h.refused(data, text)
	}
	v := mcp.Version(m.Body.Text("protocolVersion"))
	if !v.IsDate() {
		return Verdict{Fault: Unsupported(h.asked, h.known)}
	}
	// A date nobody knows is treated as the nearest older revision: the
	// server would rather be understood than hung up on.
	return Verdict{Agreed: nearest(v, h.known)}
}

// Refused takes an HTTP answer that is no JSON-RPC.
func (h *Handshake) Refused(r *mcp.Refusal) Verdict {
	if r.Status != http.StatusBadRequest {
		return Verdict{}
	}
	return h.refused(nil, r.Body)
}

var (
	date        = regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`)
	versionWord = regexp.MustCompile(`(?i)version`)
)

// refusesVersion: servers have used all of these codes for it.
func refusesVersion(code int, text []byte) bool {
	switch code {
	case mcp.CodeInvalidParams, mcp.CodeInvalidRequest, mcp.CodeBadVersion, mcp.CodeInternal, -32000:
		return date.Match(text) || versionWord.Match(text)
	}
	return false
}

// refused chooses the next offer: with the header if the server misses that,
// once the newest version that it names, then ever older ones, then the
// newer ones.
func (h *Handshake) refused(data, text []byte) Verdict {
	if !h.offer.WithHeader && bytes.Contains(bytes.ToLower(text), []byte("mcp-protocol-version")) {
		h.offer.WithHeader = true
		if !date.Match(text) {
			return Verdict{Next: &h.offer}
		}
	}
	h.tried = append(h.tried, h.offer.Version)
	if !h.listed {
		for _, source := range [][]byte{data, text} {
			if v := h.newestNamed(source); v != "" {
				h.listed = true
				return h.next(v)
			}
		}
	}
	for _, v := range slices.Backward(h.speaks) {
		if v < h.offer.Version && !slices.Contains(h.tried, v) {
			return h.next(v)
		}
	}
	for _, v := range h.speaks { // a server that has only newer ones says no more
		if !slices.Contains(h.tried, v) {
			return h.next(v)
		}
	}
	return Verdict{}
}

func (h *Handshake) next(v mcp.Version) Verdict {
	h.offer = Offer{Version: v, WithHeader: h.offer.WithHeader}
	return Verdict{Next: &h.offer}
}

func (h *Handshake) newestNamed(text []byte) mcp.Version {
	var found mcp.Version
	for _, match := range date.FindAll(text, 32) {
		v := mcp.Version(match)
		if v > found && slices.Contains(h.speaks, v) && !slices.Contains(h.tried, v) {
			found = v
		}
	}
	return found
}
