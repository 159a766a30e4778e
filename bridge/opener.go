package bridge

import (
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/transports"
)

// opener is a message that opens a conversation.
type opener struct {
	request *mcp.Message
	peer    mcp.Peer
	proof   proof
	remote  string
	session string // that is gone, and that another takes the place of
	alone   bool   // it stands for itself
}

// openerOf returns what an exchange opens, nil for nothing. b is any bridge of
// the route.
func openerOf(x *transports.Exchange, b *Bridge) *opener {
	if b == nil {
		return nil
	}
	o := &opener{request: lone(x.Frame), proof: proofOf(x), remote: x.Remote}
	if x.Session != "" {
		if n, _ := kindsOf(x.Frame); n == 0 || !b.recoverable(x) {
			return nil
		}
		o.session = x.Session
		o.peer = mcp.Peer{Version: mcp.Version(x.Version), Info: mcp.NewObject()}
		return o
	}
	if o.request == nil || !o.recognize() {
		return nil
	}
	return o
}

// recognize reads who the client is; false when the message opens nothing.
func (o *opener) recognize() bool {
	m := o.request
	switch {
	case m.Kind != mcp.Request:
		return false
	case m.Method == mcp.Initialize && m.Body != nil:
		o.peer = mcp.Peer{Version: mcp.Version(m.Body.Text("protocolVersion")), Info: peerObject(m, "clientInfo")}
	case negotiate.Claims(m):
		o.peer, o.alone = statelessPeer(m), true
	default:
		return false
	}
	return true
}

// foreign reports a bridge that serves no client of this kind.
func (o *opener) foreign(b *Bridge) bool { return o.alone && len(b.served()) == 0 }

// nobody answers where no upstream takes the client.
func (o *opener) nobody(err error) *transports.Reply {
	r := &transports.Reply{Status: http.StatusOK}
	var id mcp.ID
	if o.request != nil {
		id = o.request.ID
		if o.request.Method == mcp.Discover { // else clients take the server for an older one
			r.Status = http.StatusServiceUnavailable
		}
	}
	r.Message = mcp.Errorf(mcp.CodeInvalidRequest, "%v", err).Failure(id)
	return r
}
