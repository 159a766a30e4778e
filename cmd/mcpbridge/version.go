package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpbridge/mcpbridge/metrics"
)

func newVersionCommand(p process) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program and the protocol versions it speaks",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := buildInfo()
			_, err := fmt.Fprintf(p.out, "mcpbridge %s (revision %s, %s %s/%s)\nMCP versions: %s\n",
				b.Version, b.Revision, b.GoVersion, runtime.GOOS, runtime.GOARCH, strings.Join(versionNames(), ", "))
			if err != nil {
				return failure{err}
			}
			return nil
		},
	}
}

// buildInfo tells what the Go toolchain recorded about this program.
func buildInfo() metrics.BuildInfo {
	b := metrics.BuildInfo{Version: "devel", Revision: "unknown", GoVersion: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}

func versionNames() []string {
	known := knownVersions()
	names := make([]string, len(known))
	for i, v := range known {
		names[i] = string(v)
	}
	return names
}
