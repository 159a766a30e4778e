package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpbridge/mcpbridge/configs"
)

func newValidateCommand(p process) *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE",
		Short: "Check a configuration file",
		Long: `Check a configuration file as serve --config would read it, with the variables
of this environment. Nothing is started and no server is asked.

Exit codes: 0 the file is right, 2 it is not; each problem is a line with its
place, as FILE:LINE:COLUMN.`,
		Example: "  mcpbridge validate mcpbridge.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			loaded, err := configs.Load(args[0], p.lookup, knownVersions())
			if err != nil {
				return misconfigured{wordedAsLines(err)}
			}
			for _, remark := range loaded.Remarks {
				fmt.Fprintf(cmd.ErrOrStderr(), "mcpbridge: %s: %s\n", args[0], remark)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: right, with %s\n", args[0], counted(len(loaded.Routes), "route"))
			return err
		},
	}
}

// counted writes a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print what configuration files can say",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of configuration files, for editors",
		Long: `Print the JSON Schema of configuration files, for editors. One that uses the
YAML language server takes it from a line at the top of the file:

  # yaml-language-server: $schema=mcpbridge.schema.json`,
		Example: "  mcpbridge config schema >mcpbridge.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := configs.Schema(knownVersions())
			if err == nil {
				_, err = cmd.OutOrStdout().Write(text)
			}
			return err
		},
	}, &cobra.Command{
		Use:     "sample",
		Short:   "Print a configuration file with every key, its default and what it is good for",
		Example: "  mcpbridge config sample >mcpbridge.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), configs.Sample(knownVersions()))
			return err
		},
	})
	return cmd
}
