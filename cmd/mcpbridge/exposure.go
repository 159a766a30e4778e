package main

import (
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/internal/auth"
	"github.com/mcpbridge/mcpbridge/mcp"
)

// exposure returns an error where everybody who reaches a listener could use
// credentials of the bridge's own.
func exposure(address string, cfg configs.Config) error {
	var routes []auth.Route
	for _, r := range cfg.Routes {
		routes = append(routes, auth.Route{Name: r.Name, Static: hasOwnCredentials(r), Auth: r.Auth.Given()})
	}
	return auth.Exposure(address, routes, cfg.AllowAnonymous)
}

// hasOwnCredentials reports a route whose server is shown something that its
// clients do not have.
func hasOwnCredentials(r configs.Route) bool { return slices.ContainsFunc(r.Servers(), showsOwn) }

func showsOwn(r configs.Route) bool {
	if r.Command.Given() {
		return slices.ContainsFunc(slices.Concat(r.Command.Env, r.Command.InheritEnv), isSecretVariable)
	}
	return len(r.Headers) > 0 || r.EffectiveCredentials() == mcp.CredentialsStatic || r.UpstreamCertFile != ""
}

// isSecretVariable guesses by its name whether a variable holds a credential.
func isSecretVariable(variable string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
	return name == strings.ToUpper(configs.InheritAll) || slices.ContainsFunc(
		[]string{"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE", "DSN", "DATABASE_URL", "CONNECTION_STRING"},
		func(word string) bool { return strings.Contains(name, word) })
}
