//go:build sdk_v1_8_0

package main

import "github.com/modelcontextprotocol/go-sdk/mcp"

// asksForVisits says whether the SDK knows elicitation by URL.
const asksForVisits = true

func modeOf(p *mcp.ElicitParams) string { return p.Mode }

// restrict leaves the server these versions, if any are named.
func restrict(options *mcp.ServerOptions, versions []string) {
	options.SupportedProtocolVersions = versions
}

// clientCapabilities drops the roots capability, which is declared by default, or
// declares what is not.
func clientCapabilities(opts *mcp.ClientOptions, full bool) {
	opts.Capabilities = &mcp.ClientCapabilities{}
	if full {
		opts.Capabilities.RootsV2 = &mcp.RootCapabilities{ListChanged: true}
		opts.Capabilities.Elicitation = &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}
	}
}
