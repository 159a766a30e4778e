package stdio

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// speaker is a child as far as its lines are concerned.
func speaker() *child {
	return &child{
		program: NewCommand(Command{Path: "server"}),
		cmd:     &exec.Cmd{Process: &os.Process{Pid: 1}},
		hide:    strings.NewReplacer(),
	}
}

// FuzzFrame: whatever a server prints, nothing panics; what is a message is
// handed over as it is, and what is not becomes an answer at the most.
func FuzzFrame(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","method":"x"},1]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got := speaker().frame(line)
		if got != nil && len(got.Items) == 0 {
			t.Fatalf("%q gives a frame of nothing", line)
		}
		m, err := mcp.DecodeMessage(line)
		switch {
		case err == nil && (got == nil || got.Batch || len(got.Items) != 1 || string(got.Items[0].Message.Bytes()) != string(m.Bytes())):
			t.Fatalf("%q gives %+v", line, got)
		case err != nil && got != nil && !got.Batch && !got.Items[0].Message.IsAnswer() && isUTF8(line):
			t.Fatalf("%q, which is no message, gives %s", line, got.Items[0].Message.Bytes())
		}
	})
}

func isUTF8(line []byte) bool { return strings.ToValidUTF8(string(line), "") == string(line) }
