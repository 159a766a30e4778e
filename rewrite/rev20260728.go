package rewrite

import (
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const v20260728 mcp.Version = "2026-07-28"

// rev20260728 removed the handshake, sessions, requests of the server, ping
// and the standalone stream: every request stands for itself.
func rev20260728() Revision {
	return Revision{
		Version: v20260728,
		Traits: mcp.Traits{
			ReadsOpenID: true,
			Opening:     mcp.Discover, VersionHeader: true, RoutingHeaders: true,
			PostOnly: true, DisconnectCancels: true,
			Status: map[int]int{
				mcp.CodeMethodNotFound:  http.StatusNotFound,
				mcp.CodeHeaderMismatch:  http.StatusBadRequest,
				mcp.CodeNeedsCapability: http.StatusBadRequest,
				mcp.CodeBadVersion:      http.StatusBadRequest,
			},
		},
		Changes: []Change{
			{
				Name: "park-calls", Class: Breaking, Stage: newParking,
				Doc:    "Answers a stateless client with the questions that a server asks within a call, holds the call meanwhile, and hands over the answers that the retry brings; a call is never run again.",
				Source: "basic/patterns/mrtr; SEP-2322",
			},
			{
				Name: "serve-without-session", Class: Breaking, Stage: newFacade,
				Doc:    "Makes a server with sessions look stateless: answers discovery from the handshake, and gives results and errors the form of the stateless revision.",
				Source: "server/discover; basic \"Results\"; server/utilities/caching",
			},
			{
				Name: "listen-over-push", Class: Breaking, Stage: newPushing,
				Doc:    "Serves subscriptions/listen over what a server with sessions pushes, and acknowledges only what it can keep.",
				Source: "basic/patterns/subscriptions; SEP-2575",
			},
			{
				Name: "live-without-session", Class: Breaking, Stage: newStateless,
				Doc:    "Answers locally what only a session has (ping, the log level, notices of the client), and stamps every request with version, client and capabilities.",
				Source: "basic \"_meta\"; server/utilities/logging",
			},
			{
				Name: "name-parameters", Class: Breaking, Stage: newParamHeaders,
				Doc:    "Repeats the arguments that a tool's schema names in headers, hides tools whose schema names them wrongly, and learns the schemas again when the server finds the headers wrong.",
				Source: "basic/transports/streamable-http \"Custom Headers from Tool Parameters\"; SEP-2243",
			},
			{
				Name: "name-parameters-for-pipes", Class: Repair, Stage: newPipeHeaders,
				Doc:    "Does the same for a stateless client on a pipe, which has no headers, before a server over HTTP, which needs them.",
				Source: "basic/transports/streamable-http \"Custom Headers from Tool Parameters\"; SEP-2243",
			},
			{
				Name: "run-rounds", Class: Breaking, Stage: newRounds,
				Doc:    "Asks the client what a server answers it needs, as requests in the stream of the call, and repeats the call with the answers, round by round.",
				Source: "basic/patterns/mrtr; SEP-2322",
			},
			{
				Name: "listen-for-changes", Class: Breaking, Stage: newListening,
				Doc:    "Keeps a subscriptions/listen open for what the client subscribed to and for changes of lists.",
				Source: "basic/patterns/subscriptions; SEP-2575",
			},
			{
				Name: "withhold-undeclared-input", Class: Repair, Stage: newRoundGuard,
				Doc:    "Answers a stateless client with -32021 when its server asks for input that the client did not declare, and lists the versions that the bridge serves.",
				Source: "basic/patterns/mrtr; basic \"Error Codes\"",
			},
			{
				Name: "bind-request-state", Class: Repair, Stage: newBinding,
				Doc:    "Binds the request state of a stateless server to the client that got it, where the server sees one credential for all clients and cannot do so itself; the server gets back exactly what it gave.",
				Source: "basic/patterns/mrtr \"Server Requirements\"",
			},
			{
				Name: "mend-roots-question", Class: Repair, Repair: mendRootsQuestion,
				Doc:    "Gives a question for roots the params that it may leave out, since an official client fails without.",
				Source: "schema InputRequests",
			},
			{
				Name: "mend-cache-hints", Class: Repair, Repair: mendCacheHints,
				Doc:    "Gives a result that may be kept the hints for how long and for whom, where its server left them out or wrote them wrongly: not at all.",
				Source: "server/utilities/caching",
			},
			{
				Name: "drop-result-envelope", Class: Breaking, Downgrade: dropEnvelope,
				Doc:    "Removes resultType, caching hints and what belongs to one hop from results.",
				Source: "basic \"Results\"; server/utilities/caching",
			},
			{
				Name: "strip-hop-keys", Class: Breaking, Downgrade: stripStamps,
				Doc:    "Removes what a request says of its version, client and capabilities from what goes to a server of an older revision: some older clients write it all the same, and it is no news to the server but a contradiction.",
				Source: "basic \"_meta\"",
			},
			{
				Name: "strip-rounds", Class: Breaking, Upgrade: stripRounds,
				Doc:    "Removes inputResponses and requestState that a client of an older revision sends: they mean nothing in it.",
				Source: "basic/patterns/mrtr",
			},
			{
				Name: "carry-empty-cursor", Class: Breaking, Downgrade: hideEmptyCursor, Upgrade: showEmptyCursor,
				Doc:    "Carries an empty cursor, which older clients take for the end or ask for ever, as another one.",
				Source: "server/utilities/pagination \"Response Format\"",
			},
			{
				Name: "translate-errors", Class: Breaking, Downgrade: downgradeErrors,
				Doc:    "Writes the errors of the stateless revision as what an older client understands.",
				Source: "basic \"Error Codes\"",
			},
		},
	}
}

// hopKeys are the members of _meta that belong to one hop.
func hopKeys() []string {
	return []string{
		mcp.MetaVersion, mcp.MetaClientInfo, mcp.MetaCapabilities, mcp.MetaLogLevel,
		mcp.MetaSubscriptionID, mcp.MetaServerInfo, mcp.MetaRelatedTask,
	}
}

// stripHop removes them, and a _meta that is left empty.
func stripHop(body *mcp.Object) (changed bool) {
	if body == nil {
		return false
	}
	meta := body.Object("_meta")
	if meta == nil {
		return false
	}
	for _, key := range hopKeys() {
		changed = meta.Delete(key) || changed
	}
	if changed && meta.Len() == 0 {
		body.Delete("_meta")
	}
	return changed
}

// stripStamps leaves what relates a message to a task, which older revisions
// have too.
func stripStamps(e *Edit) {
	if e.To != mcp.Server || e.Msg.IsAnswer() {
		return
	}
	meta := e.Msg.Meta()
	if meta == nil {
		return
	}
	changed := false
	for _, key := range hopKeys() {
		changed = key != mcp.MetaRelatedTask && meta.Delete(key) || changed
	}
	if !changed {
		return
	}
	if meta.Len() == 0 {
		e.Msg.Body.Delete("_meta")
	}
	e.Changed()
}

// MayAsk reports whether a server may ask something before it answers a method.
func MayAsk(method string) bool { return hasRounds(method) }

// hasRounds lists the methods that a server may answer with a question.
func hasRounds(method string) bool {
	return method == mcp.ToolsCall || method == mcp.PromptsGet || method == mcp.ResourcesRead
}

func stripRounds(e *Edit) {
	if e.Msg.Kind == mcp.Request && hasRounds(e.Msg.Method) && e.Msg.Body != nil {
		e.remove(e.Msg.Body, "inputResponses", "requestState", "task")
	}
}

func dropEnvelope(e *Edit) {
	if e.Msg.Kind != mcp.Result || e.To != mcp.Client {
		return
	}
	if kind := e.Msg.Body.Text("resultType"); kind != "" && kind != "complete" {
		e.Refuse(mcp.Errorf(mcp.CodeInternal, "the server answered with a result of the type %q, which nobody asked for", kind))
		return
	}
	e.remove(e.Msg.Body, "resultType", "ttlMs", "cacheScope")
	if e.Sender >= v20260728 && stripHop(e.Msg.Body) {
		e.Changed()
	}
}

// emptyCursor stands for the cursor "" toward older clients.
const emptyCursor = `"mcpbridge-empty-cursor"`

func hideEmptyCursor(e *Edit) {
	if e.Msg.Kind != mcp.Result || listMember(e.Msg.Method) == "" {
		return
	}
	if v, ok := e.Msg.Body.Get("nextCursor"); ok && v.Is("") {
		e.Msg.Body.Set("nextCursor", mcp.Raw(emptyCursor))
		e.Changed()
	}
}

func showEmptyCursor(e *Edit) {
	if e.Msg.Kind != mcp.Request || listMember(e.Msg.Method) == "" || e.Msg.Body == nil {
		return
	}
	if v, ok := e.Msg.Body.Get("cursor"); ok && string(v) == emptyCursor {
		e.Msg.Body.Set("cursor", mcp.Raw(`""`))
		e.Changed()
	}
}

func downgradeErrors(e *Edit) {
	if e.Msg.Kind != mcp.Failure || e.To != mcp.Client {
		return
	}
	body := e.Msg.Body
	switch code := e.Msg.Code(); code {
	case mcp.CodeHeaderMismatch, mcp.CodeBadVersion:
		// Between the bridge and the server; the client did nothing wrong.
		*body = *mcp.Errorf(mcp.CodeInternal, "the upstream server refused the bridge's request: %s", body.Text("message")).Object()
		data := mcp.NewObject()
		data.Set("upstreamCode", mcp.IntID(int64(code)).Raw())
		body.SetObject("data", data)
		e.Changed()
	case mcp.CodeNeedsCapability:
		e.explainCapability()
	}
}

// explainCapability: a tool's failure is shown to the model, which can act on
// it; others are errors.
func (e *Edit) explainCapability() {
	needed := mcp.Raw("{}")
	if v, ok := e.Msg.Body.Object("data").Get("requiredCapabilities"); ok {
		needed = v.Compact()
	}
	e.Changed()
	if e.Msg.Method != mcp.ToolsCall {
		e.Msg.Body.Set("code", mcp.IntID(mcp.CodeInternal).Raw())
		return
	}
	e.Msg.Kind = mcp.Result
	e.Msg.Body = toolError("The server needs capabilities for this that the client does not have: " + string(needed))
}

// toolError is the result of a tool that failed.
func toolError(text string) *mcp.Object {
	content := mcp.NewArray()
	content.AddObject(textBlock(mcp.Quote(text)))
	result := mcp.NewObject()
	result.SetArray("content", content)
	result.Set("isError", mcp.Raw("true"))
	return result
}
