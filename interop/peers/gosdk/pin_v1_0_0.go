//go:build !sdk_v1_8_0 && !stateless

package main

import "github.com/modelcontextprotocol/go-sdk/mcp"

// clientCapabilities changes nothing: this version always declares roots.
func clientCapabilities(*mcp.ClientOptions, bool) {}

// asksForVisits says whether the SDK knows elicitation by URL.
const asksForVisits = false

func modeOf(*mcp.ElicitParams) string { return "form" }

// restrict is for newer versions.
func restrict(*mcp.ServerOptions, []string) {}

func sessionOptions() *mcp.ClientSessionOptions { return nil }

func rootsDeclared(bool) bool { return true }
