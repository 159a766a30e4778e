package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

// Edit is one message in the hands of one change.
type Edit struct {
	Msg     *mcp.Message
	Options mcp.Options
	// Sender and Receiver are the versions at the two ends of the journey.
	Sender, Receiver mcp.Version
	// To is the side the message travels to.
	To mcp.Side

	changed bool
	losses  []string
	refusal *mcp.Error
	dropped bool
}

// Changed says that the change altered the message.
func (e *Edit) Changed() { e.changed = true }

// Lose says that the receiver will not see something. What names it for a
// person and never quotes content.
func (e *Edit) Lose(what string) { e.losses = append(e.losses, what) }

// Refuse answers a request with an error instead of passing it on, and turns
// a result into that error.
func (e *Edit) Refuse(err *mcp.Error) { e.refusal = err }

// Drop takes a notification out of the conversation.
func (e *Edit) Drop() { e.dropped = true }

// Is reports whether the message is of that kind and method; of a result the
// method is the one that it answers.
func (e *Edit) Is(k mcp.Kind, method string) bool {
	return e.Msg.Kind == k && e.Msg.Method == method
}

// remove deletes members and notes it.
func (e *Edit) remove(o *mcp.Object, members ...string) {
	for _, name := range members {
		if o != nil && o.Delete(name) {
			e.Changed()
		}
	}
}

// toolResult returns the body of a tool's result on its way to the client,
// however it was fetched; nil for any other message. The receipt for a task
// is no tool result, nor is a round that asks for input.
func (e *Edit) toolResult() *mcp.Object {
	if e.Msg.Kind != mcp.Result || e.To != mcp.Client {
		return nil
	}
	if e.Msg.Method != mcp.ToolsCall && e.Msg.Method != mcp.TasksResult {
		return nil
	}
	if e.Msg.Body.Has("task") && !e.Msg.Body.Has("structuredContent") {
		return nil
	}
	if kind := e.Msg.Body.Text("resultType"); kind != "" && kind != "complete" {
		return nil
	}
	return e.Msg.Body
}
