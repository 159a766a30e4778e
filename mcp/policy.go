package mcp

// InjectText says when a tool result with structured content gets a text
// block that repeats it.
type InjectText string

// The policies for text injection.
const (
	InjectMissing          InjectText = "missing"           // no text block is there
	InjectUnlessEquivalent InjectText = "unless-equivalent" // no text block says the same
	InjectNever            InjectText = "never"
)

// InjectTexts lists the text injection policies, the default first.
var injectTexts = []InjectText{InjectMissing, InjectUnlessEquivalent, InjectNever}

// InjectTextNames returns the policies a configuration may name, the default
// first.
func InjectTextNames() []string { return names(injectTexts) }

// FallbackAction says what the bridge answers a server that asks something its
// client did not declare it can answer.
type FallbackAction string

// The fallback actions.
const (
	FallbackExplain FallbackAction = "explain" // cancel, and tell in the result what was asked
	FallbackCancel  FallbackAction = "cancel"
	FallbackDecline FallbackAction = "decline"
	FallbackError   FallbackAction = "error"
)

var fallbackActions = []FallbackAction{FallbackExplain, FallbackCancel, FallbackDecline, FallbackError}

// FallbackNames returns the actions a configuration may name, the default
// first.
func FallbackNames() []string { return names(fallbackActions) }

// Fallback is the policy for capabilities that the client lacks.
type Fallback struct {
	Action FallbackAction
	// Declare makes the bridge declare form elicitation upstream on its own
	// behalf, for servers that refuse to run without it. It then answers each
	// question by Action.
	Declare bool
}

// FallbackRule is the policy for the questions of some tools.
type FallbackRule struct {
	// Tool is the name of the tool as its server calls it, or a pattern: see
	// [Glob].
	Tool     Glob
	Fallback Fallback
}

// NotFoundCode says by which error code a client with sessions hears that a
// resource does not exist, where its server is of the stateless revision,
// which has no code of its own for that (server/resources "Error Handling").
type NotFoundCode string

// The choices of a code.
const (
	// NotFoundAuto is -32002 where the server names the resource in the error's
	// data, since only that proves what it means; other errors stay.
	NotFoundAuto NotFoundCode = "auto"
	// NotFoundResource takes every -32602 that answers resources/read for a
	// missing resource.
	NotFoundResource NotFoundCode = "-32002"
	// NotFoundParams leaves the code as the server gave it.
	NotFoundParams NotFoundCode = "-32602"
)

var notFoundCodes = []NotFoundCode{NotFoundAuto, NotFoundResource, NotFoundParams}

// NotFoundCodeNames returns the choices a configuration may name, the default
// first.
func NotFoundCodeNames() []string { return names(notFoundCodes) }

// Credentials says which of a client's headers reach the upstream.
type Credentials string

// The credential policies.
const (
	CredentialsForward Credentials = "forward" // the client's end-to-end headers, Authorization included
	CredentialsStatic  Credentials = "static"  // only what the operator configured, and tracing
	CredentialsNone    Credentials = "none"    // only tracing
)

// CredentialNames returns the policies a configuration may name.
func CredentialNames() []string {
	return names([]Credentials{CredentialsForward, CredentialsStatic, CredentialsNone})
}

// LossPolicy says what happens to a message that cannot be said whole in the
// receiver's version.
type LossPolicy string

// The loss policies.
const (
	LossPass   LossPolicy = "pass"   // send the degraded message
	LossRefuse LossPolicy = "refuse" // answer with an error instead
)

var lossPolicies = []LossPolicy{LossPass, LossRefuse}

// LossNames returns the policies a configuration may name, the default first.
func LossNames() []string { return names(lossPolicies) }

func names[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// Loss is something a receiver will not see because its version cannot say it.
type Loss struct {
	Change string // the change that lost it
	What   string // what was lost, for a person; never content
}

// Verdict is what became of a loss.
type Verdict string

// The verdicts on losses.
const (
	Passed  Verdict = "pass"
	Refused Verdict = "refuse"
)
