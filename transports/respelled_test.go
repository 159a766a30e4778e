package transports

import (
	"testing"
	"testing/synctest"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// TestAnswersWithTextIDs: on a pipe, too, a server that answers "7" to the
// request 7 answers that request; who sent it sees the id as it was written.
func TestAnswersWithTextIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine()
		u := NewPiped(l)
		var heard []string
		done := make(chan error, 1)
		go func() {
			done <- u.Send(t.Context(), question(7), Outgoing{Receive: func(m *mcp.Message) { heard = append(heard, m.ID.String()) }})
		}()
		synctest.Wait()
		for _, id := range []string{"8", "07", "7"} {
			answer := question(7).Answer(mcp.NewObject())
			answer.ID = mcp.TextID(id)
			l.says(answer)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if len(heard) != 1 || heard[0] != `"7"` {
			t.Errorf("heard %v", heard)
		}
		if err := u.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
