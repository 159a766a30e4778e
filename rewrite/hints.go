package rewrite

import (
	"bytes"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// mayBeKept lists the methods whose results say how long they may be kept.
func mayBeKept(method string) bool {
	switch method {
	case mcp.ToolsList, mcp.PromptsList, mcp.ResourcesList, mcp.TemplatesList, mcp.ResourcesRead, mcp.Discover:
		return true
	}
	return false
}

func mendCacheHints(e *Edit) {
	if e.Msg.Kind != mcp.Result || e.Sender < v20260728 || e.Receiver < v20260728 || !mayBeKept(e.Msg.Method) {
		return
	}
	if kind := e.Msg.Body.Text("resultType"); kind != "" && kind != "complete" {
		return
	}
	if ttl, _ := e.Msg.Body.Get("ttlMs"); !isTime(ttl) {
		e.Msg.Body.Set("ttlMs", mcp.Raw("0"))
		e.Changed()
	}
	if scope := e.Msg.Body.Text("cacheScope"); scope != "private" && scope != "public" {
		e.Msg.Body.Set("cacheScope", mcp.Raw(`"private"`))
		e.Changed()
	}
}

// isTime reports a number of milliseconds that is not negative.
func isTime(v mcp.Raw) bool {
	return len(v) > 0 && v[0] >= '0' && v[0] <= '9' && !bytes.ContainsAny(v, ".eE")
}
