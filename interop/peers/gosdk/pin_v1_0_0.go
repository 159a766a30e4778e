//go:build !sdk_v1_8_0 && !stateless

package main

import "github.com/modelcontextprotocol/go-sdk/mcp"

// clientCapabilities changes nothing: this version always declares roots.
func clientCapabilities(*mcp.ClientOptions, bool) {}

func sessionOptions() *mcp.ClientSessionOptions { return nil }

func rootsDeclared(bool) bool { return true }
