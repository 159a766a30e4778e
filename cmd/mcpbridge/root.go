package main

import (
	"github.com/spf13/cobra"
)

func newRoot(p process) *cobra.Command {
	root := &cobra.Command{
		Use:   "mcpbridge",
		Short: "Let MCP clients and servers of different protocol versions talk to each other",
		Long: `mcpbridge stands between MCP clients and an MCP server. Each side speaks its own
protocol version; the bridge translates, and counts what it changed.`,
		Example: `  mcpbridge serve --upstream http://127.0.0.1:3000/mcp
  mcpbridge serve -- npx -y some-mcp-server
  mcpbridge stdio https://mcp.example.com/mcp`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.AddCommand(newServeCommand(p), newStdioCommand(p), newValidateCommand(p), newExplainCommand(p), newConfigCommand(), newDemoCommand(p), newVersionCommand(p))
	return root
}
