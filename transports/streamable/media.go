package streamable

import "github.com/mcpbridge/mcpbridge/transports/web"

const (
	typeJSON   = web.TypeJSON
	typeEvents = web.TypeEvents
)
