package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// atDash splits the arguments at --: the URL stands before it, a command after
// it.
func atDash(args []string, fs *pflag.FlagSet) (before, after []string) {
	if n := fs.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

// urlOrCommand checks how many arguments there are.
func urlOrCommand(cmd *cobra.Command, args []string) error {
	if before, _ := atDash(args, cmd.Flags()); len(before) > 1 {
		return fmt.Errorf("accepts at most 1 arg(s), received %d; a command stands after --, as in: %s -- npx -y some-mcp-server",
			len(before), cmd.CommandPath())
	}
	return nil
}

// commandLine returns the command that starts the server: the one after --,
// or that of --stdio.
func (f *serveFlags) commandLine(g given, after []string) ([]string, error) {
	if len(after) > 0 {
		return after, nil
	}
	words, err := splitWords(f.command)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.source("stdio"), err)
	}
	return words, nil
}
