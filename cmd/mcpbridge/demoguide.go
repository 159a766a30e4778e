package main

import (
	"fmt"
	"strings"
)

// guide tells how to point a real client at the bridge, while it serves.
func (p *demoPage) guide(endpoint, metrics string) {
	p.title("Now with a client of your own: the bridge serves until Ctrl-C")
	p.line()
	for line := range strings.Lines(fmt.Sprintf(guideText, endpoint, endpoint, demoOldest, metrics)) {
		p.line(pad("", margin), strings.TrimSuffix(line, "\n"))
	}
}

// demoOldest is the version that the guide's client asks for.
const demoOldest = "2024-11-05"

// guideText is to be copied from, so its lines are never wrapped.
const guideText = `in the configuration of a client:

  {"mcpServers": {"mcpbridge-demo": {"url": "%s"}}}

or by hand, with the Mcp-Session-Id of the answer in every call that follows:

  curl -i %s \
    -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' \
    -d '{"jsonrpc":"2.0","id":1,"method":"initialize",
         "params":{"protocolVersion":"%s","capabilities":{},
         "clientInfo":{"name":"curl","version":"1"}}}'

and see what was changed:

  curl -s %s | grep ^mcpbridge_rewrites
`
