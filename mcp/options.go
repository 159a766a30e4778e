package mcp

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Options are an operator's choices for one route, as far as they decide what
// happens to a message.
type Options struct {
	Strict     bool // remove members that an older receiver does not know
	InjectText InjectText
	Fallback   Fallback
	// FallbackRules are exceptions from Fallback: the first whose pattern fits
	// the tool of a call decides about what its server asks within that call.
	FallbackRules []FallbackRule
	Loss          LossPolicy
	// RepairOutputSchema mends results that break their tool's output schema.
	RepairOutputSchema bool
	// StripOutputSchema hides the output schemas of tools from clients, for
	// servers that never fulfil them. Structured content stays.
	StripOutputSchema bool
	// FlattenLists gathers all pages of a list into one answer, for clients
	// that only read the first.
	FlattenLists bool
	// SafeNames gives tools and prompts names of A-Z, a-z, 0-9, _ and -, 64 at
	// most, for clients that take no others, and maps them back.
	SafeNames bool
	// NotFoundCode is the code for a missing resource; empty is NotFoundAuto.
	NotFoundCode NotFoundCode
	// Quirks say for whom known misbehaving peers are humoured.
	Quirks Quirks
	// ElicitationTimeout is how long a client may think about a question.
	ElicitationTimeout time.Duration
	// MaxParked is how many calls of one conversation may wait for their client
	// to come back with answers, and ParkTimeout how long each waits. Zero is
	// the default.
	MaxParked   int
	ParkTimeout time.Duration
}

// How many calls are parked, and for how long, where nobody says otherwise.
const (
	defaultParked = 16
	defaultPark   = 10 * time.Minute
)

// Parking returns MaxParked and ParkTimeout with their defaults.
func (o Options) Parking() (calls int, lifetime time.Duration) {
	return cmp.Or(o.MaxParked, defaultParked), cmp.Or(o.ParkTimeout, defaultPark)
}

// DefaultOptions returns what applies where an operator chose nothing.
func DefaultOptions() Options {
	return Options{
		InjectText:         InjectMissing,
		Fallback:           Fallback{Action: FallbackExplain},
		Loss:               LossPass,
		NotFoundCode:       NotFoundAuto,
		ElicitationTimeout: 10 * time.Minute,
		MaxParked:          defaultParked,
		ParkTimeout:        defaultPark,
	}
}

// FallbackFor returns the policy for what is asked within a call of a tool;
// the empty name stands for what belongs to no call of a tool.
func (o Options) FallbackFor(tool string) Fallback {
	if tool != "" {
		for _, r := range o.FallbackRules {
			if r.Tool.Match(tool) {
				return r.Fallback
			}
		}
	}
	return o.Fallback
}

// Declares reports whether elicitation is declared on the bridge's own behalf:
// a server is told once for all of its tools, so one rule that wants it does.
func (o Options) Declares() bool {
	return o.Fallback.Declare || slices.ContainsFunc(o.FallbackRules, func(r FallbackRule) bool { return r.Fallback.Declare })
}

// WithFallback returns the options with every fallback changed. The receiver
// stays as it is.
func (o Options) WithFallback(change func(*Fallback)) Options {
	change(&o.Fallback)
	o.FallbackRules = slices.Clone(o.FallbackRules)
	for i := range o.FallbackRules {
		change(&o.FallbackRules[i].Fallback)
	}
	return o
}

// Valid reports the first option outside its values.
func (o Options) Valid() error {
	switch {
	case !slices.Contains(injectTexts, o.InjectText):
		return Errorf(CodeInvalidParams, "unknown text injection policy %q", o.InjectText)
	case !slices.Contains(fallbackActions, o.Fallback.Action):
		return Errorf(CodeInvalidParams, "unknown fallback action %q", o.Fallback.Action)
	case !slices.Contains(lossPolicies, o.Loss):
		return Errorf(CodeInvalidParams, "unknown loss policy %q", o.Loss)
	case o.NotFoundCode != "" && !slices.Contains(notFoundCodes, o.NotFoundCode):
		return Errorf(CodeInvalidParams, "unknown code for missing resources %q", o.NotFoundCode)
	}
	for i, r := range o.FallbackRules {
		if err := r.Valid(); err != nil {
			return fmt.Errorf("fallback rule %d: %w", i+1, err)
		}
	}
	return nil
}

// Valid reports what is wrong with a rule as a *FieldError: its field is
// "tool" or "action".
func (r FallbackRule) Valid() error {
	switch {
	case r.Tool == "":
		return &FieldError{"tool", "is empty: name the tool that the rule is for, or * for all"}
	case r.Tool.Valid() != nil:
		return &FieldError{"tool", r.Tool.Valid().Error()}
	case !slices.Contains(fallbackActions, r.Fallback.Action):
		return &FieldError{"action", fmt.Sprintf("%q is no fallback action", r.Fallback.Action)}
	}
	return nil
}

// FieldError says which field of a rule is wrong, and what is wrong with it.
type FieldError struct {
	Field   string // as in a configuration: tool, action, name, version, protocol
	Problem string // without the field's name
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }
