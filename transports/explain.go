package transports

import (
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Explain returns what belongs on the stream of a pipe because of the Reply
// that a frame, nil where the bytes were no JSON, was not taken for; nil when
// nothing does. A reply without id is about the request all the same, if that
// is all there is: whoever sent it would wait for ever.
func (r Reply) Explain(f *mcp.Frame) *mcp.Message {
	switch {
	case r.Status == http.StatusAccepted:
		return nil
	case r.Message != nil && !r.Message.ID.IsZero():
		return r.Message
	case f == nil || f.Batch || len(f.Items) != 1:
		return nil
	}
	asked := f.Items[0].Message
	if asked == nil || asked.Kind != mcp.Request {
		return nil
	}
	if r.Message == nil || !r.Message.IsAnswer() {
		return mcp.Errorf(mcp.CodeInternal, "the request was refused with HTTP status %d %s", r.Status, http.StatusText(r.Status)).Failure(asked.ID)
	}
	answer := *r.Message
	answer.ID = asked.ID
	return &answer
}
