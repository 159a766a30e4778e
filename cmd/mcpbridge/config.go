package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
)

// config turns flags, variables and the argument into a checked configuration.
func (f *serveFlags) config(g given, args []string) (single, error) {
	c := f.single
	err := f.applyOutput(&c, g)
	if err != nil {
		return c, err
	}
	if c.Listen, err = f.listen(g); err != nil {
		return c, err
	}
	args, after := atDash(args, g.flags)
	if c.Upstream, err = f.upstream(g, args, after); err != nil {
		return c, err
	}
	if c.Upstream == "" {
		if c.Command.Args, err = f.commandLine(g, after); err != nil {
			return c, err
		}
	}
	if c.UpstreamTransport, err = f.transport(g, c.Upstream); err != nil {
		return c, err
	}
	if err := f.addHeaders(&c, g); err != nil {
		return c, err
	}
	if c.AdminToken, err = f.adminToken(g); err != nil {
		return c, err
	}
	f.applyOrigins(&c, g)
	if err := f.applyBase(&c, g); err != nil {
		return c, err
	}
	c.Options.Fallback = configs.ParseFallback(f.fallback)
	for _, v := range f.clientVersions {
		c.ClientVersions = append(c.ClientVersions, mcp.Version(strings.TrimSpace(v)))
	}
	if v := c.UpstreamVersion; v != "" && (c.UpstreamEra == configs.EraModern && !isStateless(v) || c.UpstreamEra == configs.EraLegacy && isStateless(v)) {
		return c, fmt.Errorf("%s: the version %s is not of the era %q; leave one of the two out", g.source("upstream-version"), v, c.UpstreamEra)
	}
	return c, explain(c.config().Validate(knownVersions()), f.source(g, args))
}

// addHeaders collects what the upstream gets with each request.
func (f *serveFlags) addHeaders(c *single, g given) error {
	if f.dropsHeaders(*c) {
		return nil
	}
	if err := addHeaders(c.Headers, f.headers, g.source("header")); err != nil {
		return err
	}
	if f.headerFile != "" {
		if err := addHeaderFile(c.Headers, f.headerFile, g.source("header-file")); err != nil {
			return err
		}
	}
	return f.applyBearer(c, g)
}

// listen joins --host and --port, which are another way to say --listen.
func (f *serveFlags) listen(g given) (string, error) {
	parts := max(g.strength("host"), g.strength("port"))
	whole := g.strength("listen")
	switch {
	case max(parts, whole) == byDefault:
		return f.output.defaultListen(), nil
	case whole > parts:
		return f.Listen, nil
	case whole == parts:
		part := "host"
		if g.strength("port") == parts {
			part = "port"
		}
		return "", fmt.Errorf("%s and %s both say where to listen; give one of them", g.source("listen"), g.source(part))
	}
	host, port, err := net.SplitHostPort(f.output.defaultListen())
	if err != nil {
		return "", err
	}
	if g.strength("port") != byDefault {
		port = strconv.Itoa(int(f.port))
	}
	return net.JoinHostPort(cmp.Or(strings.Trim(f.host, "[]"), host), port), nil
}

// upstream picks the URL among the ways to give one, the strongest first. It
// is empty where the strongest way is a command.
func (f *serveFlags) upstream(g given, args, command []string) (string, error) {
	for _, strength := range []int{byFlag, byVariable} {
		var urls, sources []string
		add := func(url, source string) {
			urls, sources = append(urls, url), append(sources, source)
		}
		if len(args) > 0 && strength == byFlag {
			add(args[0], "the argument")
		}
		if len(command) > 0 && strength == byFlag {
			add("", "the command after --")
		}
		if g.strength("stdio") == strength {
			add("", g.source("stdio"))
		}
		for _, way := range []struct{ flag, url string }{{"upstream", f.Upstream}, {"streamableHttp", f.streamableHTTP}, {"sse", f.sse}} {
			if g.strength(way.flag) == strength {
				add(way.url, g.source(way.flag))
			}
		}
		switch len(urls) {
		case 0:
		case 1:
			return urls[0], nil
		default:
			return "", fmt.Errorf("%s and %s both give the upstream; give one of them", sources[0], sources[1])
		}
	}
	return "", nil
}

// transport returns how to speak to the upstream: one that --sse gave speaks
// HTTP+SSE.
func (f *serveFlags) transport(g given, upstream string) (configs.UpstreamTransport, error) {
	if f.sse == "" || upstream != f.sse {
		return f.UpstreamTransport, nil
	}
	if g.strength("upstream-transport") != byDefault && f.UpstreamTransport != configs.TransportSSE {
		return "", fmt.Errorf("%s and %s contradict each other; give one of them", g.source("sse"), g.source("upstream-transport"))
	}
	return configs.TransportSSE, nil
}

// flagOf returns the flag of a key in a file, with underscores.
func flagOf(path string) string {
	path, _, _ = strings.Cut(strings.TrimPrefix(path, "routes[0]."), "[")
	switch path {
	case "log.level", "log.format":
		return strings.Replace(path, ".", "_", 1)
	case "trusted_proxies":
		return "trusted_proxy"
	case "admin_token":
		return "admin_token_file"
	case "allow_hosts", "allow_origins", "health_paths", "headers":
		return strings.TrimSuffix(path, "s")
	}
	return path
}

// source returns what names the place where a field of the configuration came
// from.
func (f *serveFlags) source(g given, args []string) func(field string) string {
	return func(field string) string {
		switch {
		case field == "upstream" && len(args) > 0:
			return "URL"
		case field == "upstream" && g.strength("streamableHttp") == byFlag:
			return "--streamableHttp"
		case field == "upstream" && f.sse != "":
			return g.source("sse")
		case field == "listen" && max(g.strength("host"), g.strength("port")) > g.strength("listen"):
			return g.source("host") + "/" + g.source("port")
		case field == "ws_path" && f.messagesAreSockets(g):
			return "--messagePath"
		case field == "header" && f.headerFile != "" && f.headers == nil:
			return g.source("header-file")
		}
		return g.source(strings.ReplaceAll(field, "_", "-"))
	}
}

// explain words the problems of a configuration by what the user wrote.
func explain(err error, source func(field string) string) error {
	var problems configs.Problems
	if !errors.As(err, &problems) {
		return err
	}
	worded := make([]error, len(problems))
	for i, p := range problems {
		if p.Key() == "elicitation_fallback" { // only the flag knows the word
			p.Text += ", or " + configs.Declare + "[:ACTION]"
		}
		worded[i] = fmt.Errorf("%s: %s", source(flagOf(p.Path)), p.Text)
	}
	return errors.Join(worded...)
}
