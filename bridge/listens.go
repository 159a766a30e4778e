package bridge

import "github.com/mcpbridge/mcpbridge/mcp"

// listens are the subscriptions/listen of one session that are not over: those
// of its client, and those that the bridge sent to the server. True is one
// that was acknowledged.
type listens map[listenOf]bool

type listenOf struct {
	side mcp.Side // who sent it: the client, or, for Server, the bridge to it
	call mcp.CallKey
}

// listenAsked notes a listen that waits for its acknowledgement.
func (s *Session) listenAsked(side mcp.Side, m *mcp.Message) {
	if m.Kind == mcp.Request && m.Method == mcp.Listen {
		s.listens[listenOf{side, m.Call}] = false
	}
}

// listenAcknowledged notes what a listen got.
func (s *Session) listenAcknowledged(side mcp.Side, m *mcp.Message) {
	l := listenOf{side, m.Call}
	if acknowledged, known := s.listens[l]; !known || acknowledged || m.Method != mcp.ListenAcknowledged {
		return
	}
	s.listens[l] = true
	outcome := ListenHonoured
	if m.Body.Object("notifications").Len() == 0 {
		outcome = ListenEmpty
	}
	s.watch.Listened(side, outcome)
}

// listenOver notes that a request is over, if it was a listen.
func (s *Session) listenOver(side mcp.Side, call mcp.CallKey) {
	l := listenOf{side, call}
	acknowledged, known := s.listens[l]
	switch delete(s.listens, l); {
	case !known:
	case acknowledged:
		s.watch.ListenEnded(side)
	default:
		s.watch.Listened(side, ListenRefused)
	}
}
