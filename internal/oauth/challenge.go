package oauth

import (
	"errors"
	"strings"
)

// Challenge is one challenge of a WWW-Authenticate header (RFC 9110, 11.6.1).
// It has a Token68, or Params, or neither.
type Challenge struct {
	Scheme  string // as written; compare without regard to case
	Token68 string
	Params  []Param

	end int // offset behind its last character in the value it was read from
}

// Param is a parameter of a challenge.
type Param struct {
	Name  string // as written; compare without regard to case
	Value string // without quotes and escapes

	start, end int // where the value stands, with its quotes
}

// maxChallenge bounds a header value that is looked at, in bytes.
const maxChallenge = 16 << 10

var errChallenge = errors.New("oauth: this is not a list of challenges")

// ParseChallenges reads the value of a WWW-Authenticate header, which may hold
// several challenges. It fails for a value that does not follow the grammar, in
// which a parameter occurs twice, or that is longer than 16 KiB.
func ParseChallenges(value string) ([]Challenge, error) {
	if len(value) > maxChallenge {
		return nil, errChallenge
	}
	p := parser{text: value}
	for p.commas(); p.at < len(value); p.commas() {
		if !p.element() {
			return nil, errChallenge
		}
	}
	if len(p.found) == 0 {
		return nil, errChallenge
	}
	return p.found, nil
}

// parser reads a list from left to right. A comma parts both challenges and
// the parameters of one: what follows it is a parameter if it has a "=".
type parser struct {
	text  string
	at    int
	found []Challenge
}

// element reads what stands between two commas.
func (p *parser) element() bool {
	name := p.token()
	if name == "" {
		return false
	}
	if begun := p.at; p.equals() {
		return p.parameter(name)
	} else if p.at = begun; !p.challenge(name) {
		return false
	}
	return p.over()
}

// challenge reads on behind the scheme.
func (p *parser) challenge(scheme string) bool {
	p.found = append(p.found, Challenge{Scheme: scheme, end: p.at})
	c := &p.found[len(p.found)-1]
	begun := p.at
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	if spaces := p.at > begun; p.over() || !spaces {
		return p.over()
	}
	start := p.at
	if p.token68(); p.at > start && p.over() {
		c.Token68, c.end = p.text[start:p.at], p.at
		return true
	}
	p.at = start
	name := p.token()
	return name != "" && p.equals() && p.parameter(name)
}

// parameter reads the value behind "=" and gives it to the last challenge.
func (p *parser) parameter(name string) bool {
	if len(p.found) == 0 {
		return false
	}
	c := &p.found[len(p.found)-1]
	if _, twice := c.Param(name); twice || c.Token68 != "" {
		return false
	}
	start := p.at
	value, ok := p.value()
	if !ok {
		return false
	}
	c.Params = append(c.Params, Param{Name: name, Value: value, start: start, end: p.at})
	c.end = p.at
	return p.over()
}

func (p *parser) value() (text string, ok bool) {
	if p.at < len(p.text) && p.text[p.at] == '"' {
		return p.quoted()
	}
	text = p.token()
	return text, text != ""
}

func (p *parser) quoted() (text string, ok bool) {
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return b.String(), true
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			c = p.text[p.at]
		}
		if c != '\t' && (c < ' ' || c == 0x7f) {
			return "", false
		}
		b.WriteByte(c)
	}
	return "", false
}

func (p *parser) token() string {
	start := p.at
	for p.at < len(p.text) && isToken(p.text[p.at]) {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *parser) token68() {
	start := p.at
	for p.at < len(p.text) && (isAlphanumeric(p.text[p.at]) || strings.IndexByte("-._~+/", p.text[p.at]) >= 0) {
		p.at++
	}
	for p.at > start && p.at < len(p.text) && p.text[p.at] == '=' {
		p.at++
	}
}

// equals reads a "=" with the blanks around it.
func (p *parser) equals() bool {
	p.blanks()
	if p.at == len(p.text) || p.text[p.at] != '=' {
		return false
	}
	p.at++
	p.blanks()
	return true
}

// over reports whether an element ends here, but for blanks.
func (p *parser) over() bool {
	rest := strings.TrimLeft(p.text[p.at:], " \t")
	return rest == "" || rest[0] == ','
}

func (p *parser) blanks() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

func (p *parser) commas() {
	for p.at < len(p.text) && strings.IndexByte(" \t,", p.text[p.at]) >= 0 {
		p.at++
	}
}

func isToken(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Is reports whether a challenge is of that scheme.
func (c *Challenge) Is(scheme string) bool { return strings.EqualFold(c.Scheme, scheme) }

// Param returns the value of a parameter.
func (c *Challenge) Param(name string) (value string, ok bool) {
	if p := c.param(name); p != nil {
		return p.Value, true
	}
	return "", false
}

func (c *Challenge) param(name string) *Param {
	for i := range c.Params {
		if strings.EqualFold(c.Params[i].Name, name) {
			return &c.Params[i]
		}
	}
	return nil
}

// String writes a challenge, with all values quoted. What cannot stand in a
// header is left out of values.
func (c *Challenge) String() string {
	text := c.Scheme
	if c.Token68 != "" {
		return text + " " + c.Token68
	}
	separator := " "
	for _, p := range c.Params {
		text += separator + p.Name + "=" + quote(p.Value)
		separator = ", "
	}
	return text
}

// quote writes a quoted string (RFC 9110, 5.6.4).
func quote(value string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(value) {
		switch c := value[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\t' || c >= ' ' && c != 0x7f:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
