package stdio

import (
	"bytes"
	"time"
	"unicode/utf8"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/lines"
)

// noiseShown is how much of a line that is no message is shown.
const noiseShown = 200

// frame returns the messages in a line of a child's output, or nil. Servers
// print banners, log lines and JSON of other kinds there (field report 84).
func (c *child) frame(line []byte) *mcp.Frame {
	f, fault := mcp.Decode(line)
	if fault != nil && !utf8.Valid(line) {
		// The text of some tool's output: the rest of the answer is good.
		c.program.spec.Garbage(transports.NotUTF8)
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
		f, fault = mcp.Decode(line)
	}
	if fault != nil {
		c.noise(transports.NotJSON, line)
		return unreadable(line, ending(line), "it is malformed")
	}
	f = c.messages(f, line)
	if f != nil {
		c.heard()
	}
	return f
}

// messages keeps the messages of a frame. An answer that is malformed becomes
// an error for whoever waits for it.
func (c *child) messages(f *mcp.Frame, line []byte) *mcp.Frame {
	kept := &mcp.Frame{Batch: f.Batch}
	if len(f.Items) == 0 {
		c.noise(transports.NotJSONRPC, line)
	}
	for _, item := range f.Items {
		if item.Message != nil {
			kept.Items = append(kept.Items, item)
			continue
		}
		c.noise(transports.NotJSONRPC, line)
		if !f.Batch {
			return unreadable(line, ending(line), item.Fault.Message)
		}
	}
	if len(kept.Items) == 0 {
		return nil
	}
	return kept
}

// heard notes that the child speaks: its command works.
func (c *child) heard() {
	c.mu.Lock()
	first := !c.spoke
	c.spoke = true
	c.mu.Unlock()
	if first {
		c.program.starts.worked()
	}
}

// tooLong counts a line that was skipped, and returns what answers the request
// that it may have answered.
func (c *child) tooLong(t *lines.TooLong) *mcp.Frame {
	c.noise(transports.TooLarge, t.Head)
	return unreadable(t.Head, t.Tail, "it is larger than allowed")
}

// noise counts and shows a line that is no message.
func (c *child) noise(reason string, line []byte) {
	c.program.spec.Garbage(reason)
	text := c.hide.Replace(string(bytes.ToValidUTF8(line[:min(noiseShown, len(line))], []byte("\uFFFD"))))
	if more, ok := c.noises.allow(time.Now()); ok {
		if more != "" {
			c.program.spec.Noise(c.pid(), more)
		}
		c.program.spec.Noise(c.pid(), text)
	}
}

// unreadable returns an error in place of an answer that cannot be read, nil
// when the line is none or does not say whose. Better a clear error than a
// caller that waits for ever.
func unreadable(head, tail []byte, why string) *mcp.Frame {
	id, answer := salvage(head, tail)
	if id.IsZero() || !answer {
		return nil
	}
	m := mcp.Errorf(mcp.CodeInternal, "the answer of the upstream server cannot be read: %s", why).Failure(id)
	return &mcp.Frame{Items: []mcp.Item{{Message: m}}}
}

// ending is the part of a line in which a trailing id may stand.
func ending(line []byte) []byte {
	const longest = 1 << 10
	return line[max(0, len(line)-longest):]
}
