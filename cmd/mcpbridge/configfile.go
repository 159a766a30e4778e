package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/mcpbridge/mcpbridge/configs"
)

// serverFlags lists the flags that count beside a configuration file: what
// they say wins over it.
func serverFlags() []string {
	return []string{"config", "listen", "host", "port", "admin", "allow-host", "allow-origin", "health-path", "trusted-proxy", "admin-token-file", "admin-allow-anonymous", "allow-anonymous", "drain-timeout", "log-level", "log-format"}
}

// serveFile serves what a configuration file says.
func serveFile(f *serveFlags, g given, args []string, p process) error {
	if err := f.onlyServer(g, args); err != nil {
		return err
	}
	from := &source{file: f.file, lookup: p.lookup, server: func(s *configs.Server) error { return f.override(s, g) }}
	if f.adminTokenFile != "" {
		from.files = append(from.files, f.adminTokenFile)
	}
	loaded, err := from.load()
	if err != nil {
		return misconfigured{wordedAsLines(err)}
	}
	return serve(loaded.Config, p, loaded.Remarks, from, loaded)
}

// onlyServer refuses flags that say what belongs into the file.
func (f *serveFlags) onlyServer(g given, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s and an upstream on the command line: the upstreams stand in the file; leave one of the two out", g.source("config"))
	}
	allowed := map[string]bool{}
	for _, name := range serverFlags() {
		allowed[name] = true
	}
	var all []error
	g.flags.Visit(func(flag *pflag.Flag) {
		if name := canonicalFlag(flag.Name); !allowed[name] {
			all = append(all, fmt.Errorf("--%s: with a configuration file this stands in the file; the flags that count beside it are --listen, --host, --port, --admin, --allow-host, --allow-origin, --health-path, --trusted-proxy, --admin-token-file, --admin-allow-anonymous, --allow-anonymous, --drain-timeout, --log-level and --log-format", flag.Name))
		}
	})
	return errors.Join(all...)
}

// canonicalFlag returns our name of a flag.
func canonicalFlag(name string) string {
	for _, a := range aliases() {
		if a.name == name {
			return a.of
		}
	}
	return name
}

// override applies what flags and variables say beside a file.
func (f *serveFlags) override(s *configs.Server, g given) error {
	token, err := f.adminToken(g)
	if err != nil {
		return err
	}
	if token != "" {
		s.AdminToken, s.AdminAllowAnonymous = token, false
	}
	if g.strength("admin-allow-anonymous") != byDefault {
		s.AdminAllowAnonymous = f.AdminAllowAnonymous
	}
	if addr, err := f.listen(g); err == nil && max(g.strength("listen"), g.strength("host"), g.strength("port")) != byDefault {
		s.Listen = addr
	}
	if g.strength("allow-anonymous") != byDefault {
		s.AllowAnonymous = f.AllowAnonymous
	}
	if g.strength("drain-timeout") != byDefault {
		s.DrainTimeout = f.DrainTimeout
	}
	for _, one := range []struct {
		flag string
		to   *string
		from string
	}{
		{"admin", &s.Admin, f.Admin}, {"log-level", &s.LogLevel, f.LogLevel}, {"log-format", (*string)(&s.LogFormat), string(f.LogFormat)},
	} {
		if g.strength(one.flag) != byDefault {
			*one.to = one.from
		}
	}
	for _, one := range []struct {
		flag string
		to   *[]string
		from []string
	}{
		{"allow-host", &s.AllowedHosts, f.AllowedHosts}, {"allow-origin", &s.AllowedOrigins, f.AllowedOrigins}, {"health-path", &s.HealthPaths, f.HealthPaths},
		{"trusted-proxy", &s.TrustedProxies, f.TrustedProxies},
	} {
		if g.strength(one.flag) != byDefault {
			*one.to = append(*one.to, one.from...)
		}
	}
	return nil
}
