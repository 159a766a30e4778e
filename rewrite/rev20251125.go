package rewrite

import (
	"slices"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const v20251125 mcp.Version = "2025-11-25"

func rev20251125() Revision {
	return Revision{
		Version: v20251125,
		Traits: mcp.Traits{
			ReadsOpenID: true,
			Opening:     mcp.Initialize, Sessions: true, VersionHeader: true,
			Priming: true, IDlessErrors: true,
		},
		Changes: slices.Concat(peers(), toolNames(), forms(), samplings(), tasks()),
	}
}

// peers lists what the revision changed in handshakes and presentation.
func peers() []Change {
	return []Change{
		{
			Name: "collapse-capabilities", Class: Breaking, Downgrade: collapseCapabilities, Upgrade: dropTasks,
			Doc:    "Cuts elicitation and sampling down to what the older peer can read, and hides tasks and extensions from and of peers that do not have them.",
			Source: "schema ClientCapabilities, ServerCapabilities",
		},
		{
			Name: "trim-implementation", Class: Breaking, Downgrade: trimImplementation,
			Doc:    "Removes description, icons and websiteUrl from clientInfo and serverInfo; some older peers fail on a member they do not know.",
			Source: "schema Implementation; SEP-973", Loss: "description, icons and site of a peer",
		},
		{
			Name: "drop-icons", Class: Additive, Downgrade: dropIcons,
			Doc:    "Removes icons of tools, resources, templates, prompts and resource links.",
			Source: "schema Icons; SEP-973", Loss: "icons",
		},
		{
			Name: "check-icons", Class: Repair, Check: checkIcons,
			Doc:    "Removes icons that the schema does not allow, for which clients reject the whole list.",
			Source: "schema Icons; SEP-973",
		},
		{
			Name: "name-schema-dialect", Class: Breaking, Upgrade: nameDialect,
			Doc:    "Names draft-07 as the dialect of a schema of an older server that uses what 2020-12 reads otherwise.",
			Source: "basic \"JSON Schema Usage\"; SEP-1613",
		},
		{
			Name: "drop-bare-cancellation", Class: Breaking, Downgrade: dropBareCancel,
			Doc:    "Drops notifications/cancelled without a request: older peers cannot read it.",
			Source: "schema CancelledNotification.params.requestId",
		},
	}
}

// toolNames: the revision recommends what names are made of.
func toolNames() []Change {
	return []Change{
		{
			Name: "make-names-safe", Class: Repair, Stage: newNaming,
			Doc:    "On routes that ask for it: gives tools and prompts names of A-Z, a-z, 0-9, _ and -, 64 at most, for clients that take no others, and maps them back wherever the client uses them.",
			Source: "server/tools \"Tool Names\"; SEP-986",
		},
	}
}

// forms lists what the revision changed in elicitation.
func forms() []Change {
	return []Change{
		{
			Name: "withhold-newer-elicitation", Class: Breaking, Lacks: needsNewerElicitation,
			Doc:    "Counts a question that an older client could not show, one by URL or with a choice of several values, as a capability that the client lacks.",
			Source: "client/elicitation \"Elicitation Requests\"; SEP-1036, SEP-1330", Loss: "the question, unless the fallback explains it",
		},
		{
			Name: "name-enum-titles", Class: Breaking, Downgrade: nameEnums,
			Doc:    "Writes a titled choice of an elicitation form as enum and enumNames; left as oneOf an older client would show free text.",
			Source: "schema TitledSingleSelectEnumSchema; SEP-1330",
		},
		{
			Name: "drop-form-extras", Class: Additive, Downgrade: dropFormExtras,
			Doc:    "Removes the mode of an elicitation form and the dialect of its schema.",
			Source: "schema ElicitRequestFormParams",
		},
		{
			Name: "drop-elicitation-complete", Class: Breaking, Downgrade: dropElicitationComplete,
			Doc:    "Drops notifications/elicitation/complete.",
			Source: "client/elicitation \"Completion Notifications\"",
		},
		{
			Name: "explain-required-urls", Class: Breaking, Downgrade: explainURLs,
			Doc:    "Appends the URLs of error -32042 to its message, which is all that older clients show.",
			Source: "client/elicitation \"URL Elicitation Required Error\"",
		},
	}
}

// samplings lists what the revision changed in sampling.
func samplings() []Change {
	return []Change{
		{
			Name: "withhold-sampling-tools", Class: Breaking, Downgrade: dropNoTools, Lacks: needsSamplingTools,
			Doc:    "Counts a sampling request with tools as a capability that an older client lacks; tools that the model may not use anyway are removed.",
			Source: "client/sampling \"Tools in Sampling\"; SEP-1577",
		},
		{
			Name: "split-sampling-content", Class: Breaking, Downgrade: splitSamplingContent,
			Doc:    "Splits a sampling message of several blocks into messages of one.",
			Source: "schema SamplingMessage; SEP-1577",
		},
		{
			Name: "join-sampling-content", Class: Breaking, Downgrade: joinSamplingContent,
			Doc:    "Joins the blocks of a sampling answer into one, since an older server reads only one.",
			Source: "schema CreateMessageResult; SEP-1577", Loss: "blocks that are no text",
		},
		{
			Name: "unwrap-sampling-content", Class: Repair, Repair: unwrapSamplingContent,
			Doc:    "Writes a sampling answer of one block as that block: servers that gave the model no tools mostly read nothing else.",
			Source: "schema CreateMessageResult; SEP-1577",
		},
		{
			Name: "drop-sampling-meta", Class: Additive, Downgrade: dropSamplingMeta,
			Doc:    "Removes _meta of sampling messages.",
			Source: "schema SamplingMessage._meta", Loss: "_meta of a message",
		},
	}
}

// tasks lists what the revision changed by adding tasks.
func tasks() []Change {
	return []Change{
		{
			Name: "drive-required-tasks", Class: Breaking, Stage: newDriving,
			Doc:    "Runs a tool that its server only runs as a task, for a client that has no tasks: asks for the task, waits for it, and answers the call with its result.",
			Source: "basic/utilities/tasks \"Tool-Level Negotiation\"",
		},
		{
			Name: "drop-tool-execution", Class: Additive, Downgrade: dropExecution,
			Doc:    "Removes execution of tools.",
			Source: "schema ToolExecution", Loss: "whether a tool may run as a task",
		},
		{
			Name: "check-tool-execution", Class: Breaking, Upgrade: dropExecution,
			Doc:    "Removes what an older server calls execution of a tool: it cannot run tasks, and newer clients would refuse to call the tool without.",
			Source: "schema ToolExecution",
		},
		{
			Name: "strip-task-augmentation", Class: Breaking, Downgrade: stripTask, Upgrade: stripTask,
			Doc:    "Removes the wish to run a request as a task, which a peer without tasks answers as usual.",
			Source: "basic/utilities/tasks \"Task Support and Handling\"",
		},
		{
			Name: "refuse-tasks", Class: Breaking, Downgrade: refuseTasks, Upgrade: refuseTasks,
			Doc:    "Answers requests about tasks with -32601 where one side has none.",
			Source: "basic/utilities/tasks \"Capabilities\"",
		},
		{
			Name: "drop-task-status", Class: Breaking, Downgrade: dropTaskStatus, Upgrade: dropTaskStatus,
			Doc:    "Drops notifications/tasks/status where one side has no tasks.",
			Source: "basic/utilities/tasks \"Task Status Notification\"",
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
	e.remove(c, "extensions")
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
