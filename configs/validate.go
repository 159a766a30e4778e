package configs

import (
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Validate reports all that is wrong with c, as Problems. Which protocol
// versions exist is told by the caller.
func (c Config) Validate(known []mcp.Version) error {
	var p Problems
	c.checkAddresses(&p)
	c.checkServer(&p)
	c.checkTransports(&p)
	c.checkSockets(&p)
	c.checkPlaces(&p)
	c.checkHeaders(&p)
	c.checkVersions(&p, known)
	c.checkOptions(&p)
	c.checkLimits(&p)
	c.checkGuests(&p)
	return p.err()
}

func (c Config) checkAddresses(p *Problems) {
	if !c.Stdio {
		checkAddress(p, "listen", c.Listen)
	}
	admin, ok := c.AdminAddress()
	if !ok {
		return
	}
	checkAddress(p, "admin", admin)
	if !c.Stdio && admin == c.Listen && !strings.HasSuffix(admin, ":0") {
		p.add("admin", "%q is the address of the endpoint too; choose another, or %q for none", admin, AdminOff)
	}
}

func checkAddress(p *Problems, field, addr string) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		p.add(field, "%q is not an address; write HOST:PORT, as 127.0.0.1:8080 or [::1]:8080", addr)
		return
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		p.add(field, "the port of %q is not a number from 0 to 65535", addr)
	}
}

func (c Config) checkVersions(p *Problems, known []mcp.Version) {
	names := make([]string, len(known))
	for i, v := range known {
		names[i] = string(v)
	}
	if c.UpstreamVersion != "" {
		p.oneOf("upstream_version", string(c.UpstreamVersion), names)
	}
	p.oneOf("upstream_era", string(c.UpstreamEra), UpstreamEras())
	for _, v := range c.ClientVersions {
		p.oneOf("client_versions", string(v), names)
	}
}

func (c Config) checkOptions(p *Problems) {
	p.oneOf("inject_text", string(c.Options.InjectText), mcp.InjectTextNames())
	p.oneOf("elicitation_fallback", string(c.Options.Fallback.Action), mcp.FallbackNames())
	p.oneOf("loss", string(c.Options.Loss), mcp.LossNames())
	p.oneOf("log_level", c.LogLevel, LogLevels())
	if c.LogFormat != "" {
		p.oneOf("log_format", string(c.LogFormat), LogFormats())
	}
}

func (c Config) checkLimits(p *Problems) {
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"connect_timeout", c.ConnectTimeout},
		{"request_timeout", c.RequestTimeout},
		{"session_timeout", c.SessionTimeout},
		{"elicitation_timeout", c.Options.ElicitationTimeout},
		{"keep_alive", c.KeepAlive},
	} {
		if d.value <= 0 {
			p.add(d.field, "%s is no time to wait; write a duration above zero, as 30s, 10m or 1h", d.value)
		}
	}
	if c.MaxBody <= 0 {
		p.add("max_body", "%d is no size; write one above zero, as 64MiB", c.MaxBody)
	}
}
