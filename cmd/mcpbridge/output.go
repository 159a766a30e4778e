package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/configs"
)

// output is supergateway's word for the transport of the clients. This bridge
// serves all that go over HTTP at once, so the word only chooses what applies
// where the user said nothing else.
type output string

// The outputs.
const (
	outputNone       output = ""
	outputStdio      output = "stdio"
	outputSSE        output = "sse"
	outputSockets    output = "ws"
	outputStreamable output = "streamableHttp"
)

func outputs() []string {
	return []string{string(outputStdio), string(outputSSE), string(outputSockets), string(outputStreamable)}
}

// What supergateway serves at where nothing else is said.
const (
	theirListen  = "127.0.0.1:8000"
	theirMessage = "/message"
)

// isNetwork reports an output with an endpoint.
func (o output) isNetwork() bool { return o != outputNone && o != outputStdio }

// defaultListen returns where to listen when nothing is said.
func (o output) defaultListen() string {
	if o.isNetwork() {
		return theirListen
	}
	return configs.DefaultServer().Listen
}

// applyOutput applies what --outputTransport chooses.
func (f *serveFlags) applyOutput(c *single, g given) error {
	switch o := f.output; {
	case o == outputNone:
	case !slices.Contains(outputs(), string(o)):
		return fmt.Errorf("--outputTransport: %q is not known; use one of: %s", o, strings.Join(outputs(), ", "))
	case o == outputStdio:
		f.applyStdio(c, g)
	case c.Stdio:
		return fmt.Errorf("--outputTransport: %q is not standard output; use mcpbridge serve for it", o)
	case o == outputSockets:
		return f.applySockets(c, g)
	case g.strength("message-path") == byDefault:
		c.MessagePath = theirMessage
	}
	return nil
}

// applyStdio makes the bridge one for the standard streams.
func (f *serveFlags) applyStdio(c *single, g given) {
	c.Stdio, c.SSEPath, c.WSPath, c.StdioMode = true, configs.Off, configs.Off, configs.PerSession
	if g.strength("admin") == byDefault {
		c.Admin = configs.AdminOff
	}
}

// applySockets gives WebSockets the path for messages, as supergateway does.
func (f *serveFlags) applySockets(c *single, g given) error {
	theirs := f.messagesAreSockets(g)
	switch {
	case theirs && g.strength("ws-path") == byFlag:
		return fmt.Errorf("--messagePath with --outputTransport ws and --ws-path both give the path of WebSockets; give one of them")
	case theirs:
		c.WSPath, c.MessagePath = c.MessagePath, configs.DefaultRoute().MessagePath
		if c.WSPath == c.MessagePath {
			c.MessagePath = theirMessage
		}
	case g.strength("ws-path") == byDefault:
		c.WSPath = theirMessage
	}
	return nil
}

// messagesAreSockets reports that --messagePath names the path of WebSockets.
func (f *serveFlags) messagesAreSockets(g given) bool {
	return f.output == outputSockets && g.spelled("message-path") == "messagePath"
}
