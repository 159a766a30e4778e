package web

import "time"

// Limits bound what one request of a client may take. Zero values mean the
// defaults.
type Limits struct {
	MaxBody      int64         // bytes of a request body; default 64 MiB
	MaxDepth     int           // levels of nesting in it; default mcp.MaxDepth
	BodyTimeout  time.Duration // for every further 64 KiB of a body; default 60 s
	WriteTimeout time.Duration // for one write to the client; default 30 s
	KeepAlive    time.Duration // silence on an event stream before a comment; default 15 s
	// Refused hears the status of every request that is refused before anybody
	// but the transport saw it; nil is allowed.
	Refused func(status int)
	// Limited hears the key (mcp.LimitNames) of each limit that refused
	// something before anybody but the transport saw it; nil is allowed.
	Limited func(limit string)
}

// WithDefaults returns the limits with the zero values filled in.
func (l Limits) WithDefaults() Limits {
	if l.MaxBody <= 0 {
		l.MaxBody = 64 << 20
	}
	if l.BodyTimeout <= 0 {
		l.BodyTimeout = time.Minute
	}
	if l.WriteTimeout <= 0 {
		l.WriteTimeout = 30 * time.Second
	}
	if l.KeepAlive <= 0 {
		l.KeepAlive = 15 * time.Second
	}
	if l.Refused == nil {
		l.Refused = func(int) {}
	}
	if l.Limited == nil {
		l.Limited = func(string) {}
	}
	return l
}
