package main

import (
	"strings"

	"github.com/rs/zerolog"
)

// remarks tells what happens instead of what flags of supergateway ask for.
func (f *serveFlags) remarks(c single, g given) []string {
	var all []string
	add := func(when bool, text string) {
		if when {
			all = append(all, text)
		}
	}
	idle := f.idle(c, g)
	add(len(idle) > 0, "there is no endpoint on the standard streams, and one session; without effect: "+strings.Join(idle, ", "))
	add(f.output.isNetwork() && g.strength("host") == byDefault && g.strength("listen") == byDefault,
		"only this machine reaches the endpoint, where supergateway listens on all interfaces; --host 0.0.0.0 does that")
	add(f.protocolVersion != "", "--protocolVersion does nothing: the version is negotiated; --upstream-version sets one")
	add(!f.stateful, "--stateful=false does nothing: clients whose version has sessions get one each")
	add(!c.Stdio && hasPattern(f.cors), "--cors: patterns are not supported, pages of the origins that match are refused; name each origin")
	add(c.Command.Given() && f.bearer != "", "--oauth2Bearer does nothing: a command takes no headers; give it a variable with --env")
	add(f.dropsHeaders(c), "--header does nothing: a command takes no headers, and answers to clients get none; give it a variable with --env")
	return all
}

// idle lists the flags of the command line that only an endpoint gives a
// meaning, where there is none.
func (f *serveFlags) idle(c single, g given) (names []string) {
	if !c.Stdio {
		return nil
	}
	for _, flag := range []string{
		"listen", "host", "port", "path", "sse-path", "message-path", "ws-path", "base-path",
		"health-path", "allow-host", "allow-origin", "trusted-proxy", "stdio-mode",
	} {
		if g.strength(flag) == byFlag {
			names = append(names, g.source(flag))
		}
	}
	return names
}

func hasPattern(origins []string) bool {
	for _, origin := range origins {
		if isPattern(origin) {
			return true
		}
	}
	return false
}

// dropsHeaders reports headers that supergateway would take beside a command.
func (f *serveFlags) dropsHeaders(c single) bool {
	return c.Command.Given() && f.output != outputNone && f.headers != nil
}

// warn logs what the flags of another bridge do here.
func warn(log zerolog.Logger, remarks []string) {
	for _, text := range remarks {
		log.Warn().Msg(text)
	}
}
