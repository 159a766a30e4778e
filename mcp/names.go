package mcp

// Methods, as the specification spells them.
const (
	Initialize           = "initialize"
	Initialized          = "notifications/initialized"
	Ping                 = "ping"
	ToolsList            = "tools/list"
	ToolsCall            = "tools/call"
	PromptsList          = "prompts/list"
	PromptsGet           = "prompts/get"
	ResourcesList        = "resources/list"
	TemplatesList        = "resources/templates/list"
	ResourcesRead        = "resources/read"
	ResourcesSubscribe   = "resources/subscribe"
	ResourcesUnsubscribe = "resources/unsubscribe"
	Complete             = "completion/complete"
	SetLevel             = "logging/setLevel"
	CreateMessage        = "sampling/createMessage"
	Elicit               = "elicitation/create"
	RootsList            = "roots/list"
	TasksGet             = "tasks/get"
	TasksResult          = "tasks/result"
	TasksList            = "tasks/list"
	TasksCancel          = "tasks/cancel"
	TasksStatus          = "notifications/tasks/status"
	Discover             = "server/discover"
	Listen               = "subscriptions/listen"

	Cancelled           = "notifications/cancelled"
	Progress            = "notifications/progress"
	LogMessage          = "notifications/message"
	ToolsChanged        = "notifications/tools/list_changed"
	PromptsChanged      = "notifications/prompts/list_changed"
	ResourcesChanged    = "notifications/resources/list_changed"
	ResourceUpdated     = "notifications/resources/updated"
	RootsChanged        = "notifications/roots/list_changed"
	ListenAcknowledged  = "notifications/subscriptions/acknowledged"
	ElicitationComplete = "notifications/elicitation/complete"
)

// Keys of _meta that belong to one hop, and the prefix they share.
const (
	MetaPrefix         = "io.modelcontextprotocol/"
	MetaVersion        = MetaPrefix + "protocolVersion"
	MetaCapabilities   = MetaPrefix + "clientCapabilities"
	MetaClientInfo     = MetaPrefix + "clientInfo"
	MetaLogLevel       = MetaPrefix + "logLevel"
	MetaSubscriptionID = MetaPrefix + "subscriptionId"
	MetaServerInfo     = MetaPrefix + "serverInfo"
	MetaRelatedTask    = MetaPrefix + "related-task"
)

// Headers of the HTTP transports.
const (
	HeaderSession = "Mcp-Session-Id"
	HeaderVersion = "Mcp-Protocol-Version"
	HeaderLastID  = "Last-Event-Id"
)

// JSON-RPC error codes and the codes MCP adds.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603

	CodeResourceNotFound = -32002
	CodeHeaderMismatch   = -32020
	CodeNeedsCapability  = -32021
	CodeBadVersion       = -32022
	CodeNeedsURL         = -32042
)
