package mcp

import (
	"slices"
	"time"
)

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

// Options are an operator's choices for one route, as far as they decide what
// happens to a message.
type Options struct {
	Strict     bool // remove members that an older receiver does not know
	InjectText InjectText
	Fallback   Fallback
	Loss       LossPolicy
	// RepairOutputSchema mends results that break their tool's output schema.
	RepairOutputSchema bool
	// ElicitationTimeout is how long a client may think about a question.
	ElicitationTimeout time.Duration
}

// DefaultOptions returns what applies where an operator chose nothing.
func DefaultOptions() Options {
	return Options{
		InjectText:         InjectMissing,
		Fallback:           Fallback{Action: FallbackExplain},
		Loss:               LossPass,
		ElicitationTimeout: 10 * time.Minute,
	}
}

// Valid reports an option outside its values.
func (o Options) Valid() error {
	switch {
	case !slices.Contains(injectTexts, o.InjectText):
		return Errorf(CodeInvalidParams, "unknown text injection policy %q", o.InjectText)
	case !slices.Contains(fallbackActions, o.Fallback.Action):
		return Errorf(CodeInvalidParams, "unknown fallback action %q", o.Fallback.Action)
	case !slices.Contains(lossPolicies, o.Loss):
		return Errorf(CodeInvalidParams, "unknown loss policy %q", o.Loss)
	}
	return nil
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
