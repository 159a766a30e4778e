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
	if reason := refusesBatch(f, r); reason != "" {
		return refuse("%s", reason)
	}
	var in Intake
	var ids = map[string]bool{}
	for _, item := range f.Items {
		switch m := item.Message; {
		case m == nil && r.Strict:
			return refuse("an element of the batch is no message: %s", item.Fault.Message)
		case m == nil && !item.Fault.ID.IsZero():
			in.Errors = append(in.Errors, item.Fault.Failure(item.Fault.ID))
		case m == nil:
		case m.Kind == mcp.Request && m.Method == mcp.Initialize:
			return refuse("initialize must not be part of a batch")
		case m.Kind == mcp.Request && ids[m.ID.Key()]:
			return refuse("two requests of the batch have the id %s", m.ID)
		default:
			if m.Kind == mcp.Request {
				ids[m.ID.Key()] = true
			}
			in.Messages = append(in.Messages, m)
		}
	}
	if len(in.Messages) == 0 {
		return refuse("no element of the batch is a message")
	}
	return in
}

func refusesBatch(f *mcp.Frame, r Rules) string {
	switch {
	case r.Strict && !r.Batches:
		return "the negotiated protocol version has no batches; send each message alone"
	case len(f.Items) == 0:
		return "the batch is empty"
	case len(f.Items) > r.MaxBatch:
		return fmt.Sprintf("the batch has %d elements; at most %d are taken", len(f.Items), r.MaxBatch)
	}
	return ""
}

func refuse(format string, args ...any) Intake {
	return Intake{Refusal: &mcp.Fault{Error: *mcp.Errorf(mcp.CodeInvalidRequest, format, args...)}}
}
