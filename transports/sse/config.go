package sse

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// Name is what metrics call this transport.
const Name = "http+sse"

// Where clients find the endpoints unless the operator chose other paths.
const (
	StreamPath  = "/sse"
	MessagePath = "/messages"
)

// Forwarded, as a BasePath, takes the prefix from X-Forwarded-Prefix of trusted
// proxies (web.Proxies).
const Forwarded = "forwarded"

// ServerConfig holds an operator's choices for a Server. Zero values mean the
// defaults.
type ServerConfig struct {
	web.Limits
	MessagePath string // where clients are sent to post; default MessagePath
	// BasePath is the prefix under which clients see MessagePath where a proxy
	// in front takes one away, or Forwarded if the proxy tells it.
	BasePath       string
	StreamBytes    int // queued for one stream before its reader pauses; default 1 MiB
	StreamMessages int // the same in messages; default 1000
	MaxStreams     int // open at once; default 10000
	// Patience is how long a POST waits for the host's word before it is
	// accepted without one. Some clients wait 5 s for their POST and then give
	// the whole session up, while a server behind may take longer to start.
	// Default 3 s.
	Patience time.Duration
	// Owns reports whether a POST with the header now may speak for the session
	// that a GET with the header opened began. The default asks for the same
	// Authorization.
	Owns func(ctx context.Context, s transports.PipeSession, opened, now http.Header) bool
}

func (c ServerConfig) withDefaults() ServerConfig {
	if c.MessagePath == "" {
		c.MessagePath = MessagePath
	}
	if c.StreamBytes <= 0 {
		c.StreamBytes = 1 << 20
	}
	if c.StreamMessages <= 0 {
		c.StreamMessages = 1000
	}
	if c.MaxStreams <= 0 {
		c.MaxStreams = 10000
	}
	c.Limits = c.Limits.WithDefaults()
	if c.Patience <= 0 {
		c.Patience = 3 * time.Second
	}
	if c.Owns == nil {
		c.Owns = sameAuthorization
	}
	return c
}

func sameAuthorization(_ context.Context, _ transports.PipeSession, opened, now http.Header) bool {
	a, b := fingerprint(opened), fingerprint(now)
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// fingerprint hashes credentials, so that comparing them takes the same time
// however much of them is right.
func fingerprint(h http.Header) (sum [sha256.Size]byte) {
	mac := sha256.New()
	for _, v := range h.Values("Authorization") {
		_, _ = mac.Write([]byte(v)) // never fails (hash.Hash)
		_, _ = mac.Write([]byte{0})
	}
	mac.Sum(sum[:0])
	return sum
}
