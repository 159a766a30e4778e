package bridge

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// explain turns a failure of the server's leg into the error that the client
// gets: what happened, on which side, and what to do. It quotes nothing that
// the server sent besides a status.
func (b *Bridge) explain(err error) *mcp.Error {
	var unreachable *transports.Unreachable
	var worded transports.Worded
	var refusal *mcp.Refusal
	var own *mcp.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &worded):
		return mcp.Errorf(mcp.CodeInternal, "%s", worded.Words())
	case errors.As(err, &unreachable):
		return mcp.Errorf(mcp.CodeInternal, "cannot reach the upstream server %s%s: check that it is running and that the bridge has the right address", b.Upstream, b.inTime(err))
	case errors.As(err, &refusal) && asksToAuthenticate(refusal) && b.Credentials != mcp.CredentialsForward:
		e := mcp.Errorf(mcp.CodeInternal, "the upstream server refused what the bridge showed it: HTTP status %d %s; the operator of the bridge has to give it the right credentials", refusal.Status, http.StatusText(refusal.Status))
		e.Data = mcp.Raw(`{"status":` + strconv.Itoa(refusal.Status) + `}`)
		return e
	case errors.As(err, &refusal):
		e := mcp.Errorf(mcp.CodeInternal, "the upstream server answered with HTTP status %d %s instead of a JSON-RPC message", refusal.Status, http.StatusText(refusal.Status))
		e.Data = mcp.Raw(`{"status":` + strconv.Itoa(refusal.Status) + `}`)
		return e
	case errors.Is(err, context.DeadlineExceeded): // only a handshake has a deadline
		return mcp.Errorf(mcp.CodeInternal, "the upstream server did not answer within %s, the limit %s", b.HandshakeTimeout, mcp.LimitHandshake)
	case isTooLarge(err):
		return mcp.Errorf(mcp.CodeInternal, "the answer of the upstream server is larger than the limit %s of the bridge; ask for less, or raise it", mcp.LimitBody)
	case errors.Is(err, transports.ErrSessionGone):
		return mcp.Errorf(mcp.CodeInternal, "the upstream server lost the session, and the new one too")
	case errors.Is(err, transports.ErrNoAnswer):
		return mcp.Errorf(mcp.CodeInternal, "the upstream server closed the exchange without an answer")
	}
	return mcp.Errorf(mcp.CodeInternal, "the connection to the upstream server broke before it answered; whether it acted on the request is not known")
}

// inTime names the limit for a server that took too long to be reached.
func (b *Bridge) inTime(err error) string {
	if b.ConnectTimeout == 0 || limitOf(err) != mcp.LimitConnect {
		return ""
	}
	return " within " + b.ConnectTimeout.String() + ", the limit " + mcp.LimitConnect
}

// explain words a silence by how long the conversation bears it.
func (c *conversation) explain(err error) *mcp.Error {
	if errors.Is(err, errSilent) {
		return mcp.Errorf(mcp.CodeInternal, "the upstream server did not answer within %s, the limit %s", c.requestTimeout(), mcp.LimitRequest)
	}
	return c.bridge.explain(err)
}

// reasonOf names a failure for metrics.
func reasonOf(err error) string {
	var unreachable *transports.Unreachable
	var refusal *mcp.Refusal
	var lost *stateLost
	switch {
	case errors.As(err, &unreachable):
		return "unreachable"
	case errors.As(err, &refusal):
		return "status_" + strconv.Itoa(refusal.Status/100) + "xx"
	case errors.Is(err, errSilent), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &lost), errors.Is(err, transports.ErrSessionGone):
		return "session_lost"
	case errors.Is(err, transports.ErrNoAnswer):
		return "no_answer"
	}
	return "broken"
}
