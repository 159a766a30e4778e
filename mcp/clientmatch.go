package mcp

// ClientMatch says which clients a rule is for; in a quirk also which servers,
// by the same of theirs. What is empty fits all. What peers call themselves is a
// claim: a match may decide how they are served, never what they are allowed.
type ClientMatch struct {
	// Name fits the name in clientInfo.
	Name Glob
	// Version fits the version in clientInfo: comparisons of dotted numbers
	// (">=1.2 <2"), or a pattern ("1.*").
	Version string
	// Protocol fits the protocol version that the client speaks here:
	// comparisons of dates (">=2025-03-26"), or a pattern ("2025-*").
	Protocol string
}

// Fits reports whether a client is meant.
func (m ClientMatch) Fits(client Peer) bool {
	name, version := client.Name()
	return (m.Name == "" || m.Name.Match(name)) &&
		fits(m.Version, version, numbers) && fits(m.Protocol, string(client.Version), dates)
}

func fits(want, got string, scale scale) bool {
	if !isComparison(want) {
		return want == "" || Glob(want).Match(got)
	}
	c, err := parseComparison(want, scale)
	return err == nil && c.holds(got)
}

// Valid reports what is wrong with a match as a *FieldError: its field is
// "name", "version" or "protocol". A match of nothing but empty fields would
// fit every client, and is refused.
func (m ClientMatch) Valid() error {
	if m == (ClientMatch{}) {
		return &FieldError{"name", `is empty, as are version and protocol: say which clients the rule is for ("*" for all)`}
	}
	if err := m.Name.Valid(); err != nil {
		return &FieldError{"name", err.Error()}
	}
	if err := validFit(m.Version, numbers); err != nil {
		return &FieldError{"version", err.Error()}
	}
	if err := validFit(m.Protocol, dates); err != nil {
		return &FieldError{"protocol", err.Error()}
	}
	return nil
}

func validFit(want string, scale scale) error {
	if !isComparison(want) {
		return Glob(want).Valid()
	}
	_, err := parseComparison(want, scale)
	return err
}
