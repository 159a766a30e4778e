package main

import (
	"errors"
	"net/url"
	"strings"

	"github.com/spf13/pflag"
)

// supergateway holds what its flags say that are no other name of one here.
type supergateway struct {
	output          output
	baseURL         string
	cors            []string
	bearer          string
	stateful        bool
	protocolVersion string
}

// defineEverywhere defines its flags that make sense without an endpoint.
func (s *supergateway) defineEverywhere(fs *pflag.FlagSet) {
	fs.StringVar((*string)(&s.output), "outputTransport", "", "the transport of the clients: "+oneOf(outputs()))
	fs.StringVar(&s.bearer, "oauth2Bearer", "", "the same as --header 'Authorization: Bearer `TOKEN`'")
	fs.StringVar(&s.protocolVersion, "protocolVersion", "", "does nothing")
	hide(fs, "outputTransport", "oauth2Bearer", "protocolVersion")
}

// defineEndpoint defines those for the endpoint.
func (s *supergateway) defineEndpoint(fs *pflag.FlagSet) {
	fs.StringVar(&s.baseURL, "baseUrl", "", "`URL` under which clients see the endpoint")
	fs.StringArrayVar(&s.cors, "cors", nil, "the same as --allow-origin `ORIGIN`, or * alone")
	fs.Lookup("cors").NoOptDefVal = "*"
	fs.BoolVar(&s.stateful, "stateful", true, "does nothing")
	hide(fs, "baseUrl", "cors", "stateful")
}

func hide(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		fs.Lookup(name).Hidden = true
	}
}

// applyBase takes from --baseUrl what is of use here: the path that a proxy in
// front takes away, and the name by which clients address the endpoint. They
// are sent to post to a path, whose origin is that of the stream they opened.
func (s *supergateway) applyBase(c *single, g given) error {
	if g.spelled("base-path") != "baseUrl" {
		return nil
	}
	u, err := url.Parse(s.baseURL)
	switch {
	case err != nil, u.Host == "" && u.Path != s.baseURL, u.Host != "" && u.Scheme != "http" && u.Scheme != "https":
		return errors.New("--baseUrl: this is not an http:// or https:// URL; write it as https://bridge.example.com/prefix")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return errors.New("--baseUrl: the URL holds more than scheme, host and path")
	}
	if c.BasePath = u.Path; u.Path == "/" {
		c.BasePath = ""
	}
	if host := u.Hostname(); host != "" {
		c.AllowedHosts = append(c.AllowedHosts, host)
	}
	return nil
}

// applyOrigins maps --cors onto the allowed origins, but for patterns.
func (s *supergateway) applyOrigins(c *single, g given) {
	if g.spelled("allow-origin") != "cors" {
		return
	}
	for _, origin := range s.cors {
		if !isPattern(origin) {
			c.AllowedOrigins = append(c.AllowedOrigins, origin)
		}
	}
}

// isPattern reports a regular expression in place of an origin.
func isPattern(origin string) bool {
	return len(origin) > 1 && strings.HasPrefix(origin, "/") && strings.HasSuffix(origin, "/")
}

// applyBearer adds the token to what the upstream gets.
func (s *supergateway) applyBearer(c *single, g given) error {
	const flag = "--oauth2Bearer"
	switch {
	case !g.flags.Changed("oauth2Bearer") || c.Command.Given():
		return nil
	case strings.TrimSpace(s.bearer) == "":
		return errors.New(flag + ": the token is empty")
	case c.Headers.Get("Authorization") != "":
		return errors.New(flag + " and a header both give Authorization; give one of them")
	}
	return addHeaders(c.Headers, []string{"Authorization: Bearer " + s.bearer}, flag)
}
