package negotiate

import (
	"fmt"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Rules are what a leg allows a frame to be.
type Rules struct {
	Strict   bool // take nothing that the negotiated version does not define
	Batches  bool // the version defines batches
	MaxBatch int  // elements
}

// Intake is what a frame comes to: messages to serve, answers to elements
// that cannot be served, or the refusal of the whole.
type Intake struct {
	Messages []*mcp.Message
	Errors   []*mcp.Message
	Refusal  *mcp.Fault
}

// Inbound checks a frame of a legacy client before anything of it is acted on:
// a batch is served whole or, where it cannot be, refused whole, except for
// single elements that are no messages. basic "Batching"; lifecycle
// "Initialization".
func Inbound(f *mcp.Frame, r Rules) Intake {
	if !f.Batch {
		if fault := f.Items[0].Fault; fault != nil {
			return Intake{Refusal: fault}
		}
		return Intake{Messages: []*mcp.Message{f.Items[0].Message}}
	}
	if reason, limit := refusesBatch(f, r); reason != "" {
		in := refuse("%s", reason)
		in.Refusal.Limit = limit
		return in
	}
	var in Intake
	var ids = map[string]bool{}
	for _, item := range f.Items {
		id := asks(item)
		switch m := item.Message; {
		case m == nil && r.Strict:
			return refuse("an element of the batch is no message: %s", item.Fault.Message)
		case m != nil && m.Method == mcp.Initialize:
			return refuse("initialize must not be part of a batch")
		case !id.IsZero() && ids[id.Key()]:
			return refuse("two requests of the batch have the id %s", id)
		case m != nil:
			in.Messages = append(in.Messages, m)
		case !id.IsZero():
			in.Errors = append(in.Errors, item.Fault.Failure(id))
		}
		ids[id.Key()] = true
	}
	if len(in.Messages) == 0 {
		return refuse("no element of the batch is a message")
	}
	return in
}

// asks returns the id under which an element's sender awaits an answer, be it
// that the element cannot be served.
func asks(i mcp.Item) mcp.ID {
	switch {
	case i.Message == nil:
		return i.Fault.ID
	case i.Message.Kind == mcp.Request:
		return i.Message.ID
	}
	return mcp.ID{}
}

// refusesBatch returns why a batch is not taken, and the limit that it is
// above, if that is why.
func refusesBatch(f *mcp.Frame, r Rules) (reason, limit string) {
	switch {
	case r.Strict && !r.Batches:
		return "the negotiated protocol version has no batches; send each message alone", ""
	case len(f.Items) == 0:
		return "the batch is empty", ""
	case len(f.Items) > r.MaxBatch:
		return fmt.Sprintf("the batch has %d elements, more than %d, the limit %s; send fewer at once", len(f.Items), r.MaxBatch, mcp.LimitBatch), mcp.LimitBatch
	}
	return "", ""
}

func refuse(format string, args ...any) Intake {
	return Intake{Refusal: &mcp.Fault{Error: *mcp.Errorf(mcp.CodeInvalidRequest, format, args...)}}
}
