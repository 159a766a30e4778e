package configs

import (
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Sample returns a configuration file that names every key with its default
// and what it is good for.
func Sample(known []mcp.Version) string {
	server, shared, one := DefaultServer(), DefaultRoute(), DefaultRoute()
	one.Name, one.Upstream = "example", "http://127.0.0.1:3000/mcp"
	one.Path, one.SSEPath, one.MessagePath, one.WSPath = "/example", "/example/sse", "/example/messages", "/example/ws"
	out := []string{
		"# Every key with its default. Only routes, each with a name and an upstream or a",
		"# command, must be there. ${NAME} is a variable of the environment, ${file:PATH} what",
		"# a file holds, $$ a $. `mcpbridge validate FILE` checks a file like this one.",
		"",
	}
	for _, f := range server.fields() {
		out = append(append(out, f.written()...), "")
	}
	out = append(out, "# What applies to each route that says nothing else. A route may have these keys too.", "defaults:")
	out = append(out, indented(shared.shared(known).lines(), "  ")...)
	out = append(out, "", "# The MCP servers, and where clients find them.", "routes:")
	for i, line := range indented(one.own(known).lines(), "    ") {
		if i == 0 {
			line = "  -" + line[3:]
		}
		out = append(out, line)
	}
	out = append(out, "",
		"# MCP servers as desktop clients write them: each becomes a route at /NAME.",
		"mcpServers: {}")
	return strings.Join(out, "\n") + "\n"
}

// own are the keys of a route that are no defaults.
func (r *Route) own(known []mcp.Version) (own object) {
	for _, f := range r.fields(known) {
		if f.own {
			own = append(own, f)
		}
	}
	return own
}

func indented(lines []string, by string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if out[i] = by + line; line == "" {
			out[i] = ""
		}
	}
	return out
}
