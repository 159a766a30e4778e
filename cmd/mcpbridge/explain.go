package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
)

func newExplainCommand(p process) *cobra.Command {
	return &cobra.Command{
		Use:     "explain FILE",
		Short:   "Say in plain words what a configuration file makes the bridge do",
		Example: "  mcpbridge explain mcpbridge.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			loaded, err := configs.Load(args[0], p.lookup, knownVersions())
			if err != nil {
				return misconfigured{wordedAsLines(err)}
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), explained(loaded.Config))
			return err
		},
	}
}

// explained says what a configuration does, a paragraph for each route.
func explained(cfg configs.Config) string {
	lines := []string{explainServer(cfg.Server)}
	for _, r := range cfg.Routes {
		lines = append(lines, "", r.Name)
		for _, line := range explainRoute(r) {
			lines = append(lines, "  "+line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func explainServer(s configs.Server) string {
	how := "plain HTTP"
	if s.Encrypted() {
		how = "TLS"
	}
	text := fmt.Sprintf("Listens on %s for %s", s.Listen, how)
	if addr, ok := s.AdminAddress(); ok {
		text += fmt.Sprintf("; metrics and health are on %s", addr)
	}
	if len(s.AllowedHosts) > 0 {
		text += "; clients may address it as " + strings.Join(s.AllowedHosts, ", ")
	}
	if len(s.AllowedOrigins) > 0 {
		text += "; pages of " + strings.Join(s.AllowedOrigins, ", ") + " may call it"
	}
	return text + ". Told to stop, it gives calls " + configs.Brief(s.DrainTimeout) + " to end."
}

func explainRoute(r configs.Route) []string {
	lines := []string{explainPlaces(r)}
	if len(r.Upstreams) == 0 {
		lines = append(lines, explainUpstream(r), explainVersions(r), explainCredentials(r))
	}
	lines = append(lines, explainUpstreams(r)...)
	o := r.Options
	lines = append(lines, explainFallback(o))
	if o.Strict {
		lines = append(lines, "Strict: what an older peer does not know is removed.")
	} else {
		lines = append(lines, "What an older peer does not know is left for it to ignore; what would break it is rewritten.")
	}
	lines = append(lines, map[mcp.InjectText]string{
		mcp.InjectMissing:          "Tool results with structured content and no text get the same as text.",
		mcp.InjectUnlessEquivalent: "Tool results with structured content get the same as text, unless a text says it already.",
		mcp.InjectNever:            "Tool results with structured content get no text.",
	}[o.InjectText])
	if o.Loss == mcp.LossRefuse {
		lines = append(lines, "A message that a peer's version cannot say whole is refused with an error.")
	}
	if o.RepairOutputSchema {
		lines = append(lines, "Tool results that break the tool's own output schema are mended.")
	}
	lines = append(lines, explainQuirks(o.Quirks)...)
	return append(lines, fmt.Sprintf("Waits %s to connect and %s within a request; idle sessions end after %s; messages up to %s.",
		configs.Brief(r.ConnectTimeout), configs.Brief(r.RequestTimeout), configs.Brief(r.SessionTimeout), r.MaxBody.String()))
}

// explainQuirks tells what differs from the table of known misbehaving peers.
func explainQuirks(q mcp.Quirks) []string {
	if q.Off {
		return []string{"Nothing is done for known misbehaving peers."}
	}
	var rules []string
	for _, r := range q.Rules {
		word := "off"
		if r.Enabled {
			word = "on"
		}
		if r.Client != (mcp.ClientMatch{}) || r.Server != (mcp.ClientMatch{}) {
			word += " for some"
		}
		rules = append(rules, r.Quirk+" "+word)
	}
	if rules == nil {
		return nil
	}
	return []string{"Known misbehaving peers, otherwise than in the table: " + strings.Join(rules, ", ") + "."}
}

func explainPlaces(r configs.Route) string {
	places := []string{r.Path + " (Streamable HTTP)"}
	if stream, _, ok := r.SSE(); ok {
		places = append(places, stream+" (HTTP+SSE)")
	}
	if path, ok := r.Sockets(); ok {
		places = append(places, path+" (WebSocket)")
	}
	return "Clients find it at " + strings.Join(places, ", ") + "."
}

func explainUpstream(r configs.Route) string {
	switch {
	case r.Command.Given() && r.StdioMode == configs.Shared:
		return "The server is the command " + r.UpstreamName() + ", one process for all sessions; it can ask nobody anything."
	case r.Command.Given():
		return "The server is the command " + r.UpstreamName() + "; each session starts a process of its own."
	case r.UpstreamSocket():
		return "The server is " + r.UpstreamName() + ", over WebSocket."
	case r.UpstreamTransport == configs.TransportAuto:
		return "The server is " + r.UpstreamName() + "; whether it speaks Streamable HTTP or HTTP+SSE is found out."
	}
	return fmt.Sprintf("The server is %s, over %s.", r.UpstreamName(), r.UpstreamTransport)
}

func explainVersions(r configs.Route) string {
	clients := "Clients of every version are served"
	if len(r.ClientVersions) > 0 {
		clients = "Clients of " + versionList(r.ClientVersions) + " are served, others are turned away"
	} else {
		clients += " (" + versionList(knownVersions()) + ")"
	}
	switch {
	case r.UpstreamVersion != "":
		return fmt.Sprintf("%s; the server is offered %s only.", clients, r.UpstreamVersion)
	case r.UpstreamEra == configs.EraLegacy:
		return clients + "; conversations with the server begin with a handshake, in the client's own version first."
	case r.UpstreamEra == configs.EraModern:
		return clients + "; the server is spoken to without handshake and sessions."
	}
	return clients + "; the server is asked what it speaks."
}

func versionList(versions []mcp.Version) string {
	names := make([]string, len(versions))
	for i, v := range versions {
		names[i] = string(v)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func explainCredentials(r configs.Route) string {
	if r.Command.Given() {
		return "The command gets no credentials of clients."
	}
	switch r.EffectiveCredentials() {
	case mcp.CredentialsStatic:
		return "The server gets the bridge's own credentials, whoever calls."
	case mcp.CredentialsNone:
		return "The server gets no credentials."
	}
	return "The server gets the credentials of each client."
}

func explainFallback(o mcp.Options) string {
	what := map[mcp.FallbackAction]string{
		mcp.FallbackExplain: "the question is cancelled, and the result says what was asked",
		mcp.FallbackCancel:  "the question is cancelled",
		mcp.FallbackDecline: "the question is declined",
		mcp.FallbackError:   "the server gets an error",
	}[o.Fallback.Action]
	text := "Asked for a client that cannot be asked, " + what
	if o.Fallback.Declare {
		text += "; the server is told that it may ask"
	}
	return text + ". A person has " + configs.Brief(o.ElicitationTimeout) + " to answer."
}
