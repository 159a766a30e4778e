package websocket

import "time"

// Timing says when a peer counts as gone. Zero values mean the defaults.
type Timing struct {
	Ping  time.Duration // between pings; default 30 s
	Pong  time.Duration // for a sign of life after that; default 20 s
	Write time.Duration // for every further 256 KiB of what is written; default 30 s
	Close time.Duration // for the closing handshake; default 2 s
}

func (t Timing) withDefaults() Timing {
	for _, d := range []struct {
		value    *time.Duration
		fallback time.Duration
	}{
		{&t.Ping, 30 * time.Second},
		{&t.Pong, 20 * time.Second},
		{&t.Write, 30 * time.Second},
		{&t.Close, 2 * time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.fallback
		}
	}
	return t
}

// defaultMaxMessage bounds a message where the operator does not.
const defaultMaxMessage = 64 << 20
