package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

const v20251125 mcp.Version = "2025-11-25"

func rev20251125() Revision {
	return Revision{
		Version: v20251125,
		Traits: mcp.Traits{
			Opening: mcp.Initialize, Sessions: true, VersionHeader: true,
			Priming: true, IDlessErrors: true,
		},
		Changes: []Change{
			{
				Name: "collapse-capabilities", Class: Breaking, Downgrade: collapseCapabilities, Upgrade: dropTasks,
				Doc: "Cuts elicitation and sampling down to what the older peer can read, and hides tasks from and of peers that do not have them. Schema: ClientCapabilities, ServerCapabilities.",
			},
			{
				Name: "trim-implementation", Class: Breaking, Downgrade: trimImplementation,
				Doc: "Removes description, icons and websiteUrl from clientInfo and serverInfo; some older peers fail on a member they do not know. Schema: Implementation; SEP-973.",
			},
			{
				Name: "withhold-newer-elicitation", Class: Breaking, Lacks: needsNewerElicitation,
				Doc: "Counts a question that an older client could not show, one by URL or with a choice of several values, as a capability that the client lacks. client/elicitation \"Elicitation Requests\"; SEP-1036, SEP-1330.",
			},
		},
	}
}

func collapseCapabilities(e *Edit) {
	if e.Msg.Method != mcp.Initialize || e.Msg.Body == nil {
		return
	}
	c := e.Msg.Body.Object("capabilities")
	if c == nil {
		return
	}
	e.remove(c, "tasks")
	if e.Msg.Kind != mcp.Request {
		return
	}
	if s := c.Object("sampling"); s.Len() > 0 {
		c.Set("sampling", mcp.Raw("{}"))
		e.Changed()
	}
	switch el := c.Object("elicitation"); {
	case el.Len() == 0:
	case el.Has("url") && !el.Has("form"): // {} would promise forms
		e.remove(c, "elicitation")
	default:
		c.Set("elicitation", mcp.Raw("{}"))
		e.Changed()
	}
}

// dropTasks: an older peer that has a member of that name means another thing.
func dropTasks(e *Edit) {
	if e.Msg.Method == mcp.Initialize && e.Msg.Body != nil {
		e.remove(e.Msg.Body.Object("capabilities"), "tasks")
	}
}

func trimImplementation(e *Edit) {
	e.remove(implementation(e.Msg), "description", "icons", "websiteUrl")
}

func needsNewerElicitation(m *mcp.Message) string {
	if m.Method != mcp.Elicit || m.Body == nil {
		return ""
	}
	if m.Body.Text("mode") == "url" {
		return "elicitation.url"
	}
	schema := m.Body.Object("requestedSchema")
	if schema == nil {
		return ""
	}
	feature := ""
	schema.Object("properties").Each(func(_ string, v mcp.Raw) bool {
		if p, ok := mcp.ParseObject(v); ok && p.Text("type") == "array" {
			feature = "elicitation.multiselect"
		}
		return feature == ""
	})
	return feature
}
