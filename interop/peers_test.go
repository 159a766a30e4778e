package interop

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// peer is one SDK version: the commands that run it as server and as client.
type peer struct {
	name   string
	server []string
	client []string
	deaf   bool // its client never answers what a server asks, nor refuses to
	serial bool // its server takes a call only when the one before has ended
}

// goBuild is one Go peer: a source directory built with one version of its SDK.
type goBuild struct{ name, dir, modfile, tags string }

var goBuilds = []goBuild{
	{"go-sdk-1.0.0", "gosdk", "go.mod", ""},
	{"go-sdk-1.8.0", "gosdk", "v1.8.0.mod", "sdk_v1_8_0"},
	{"mcp-go-0.32.0", "mcpgo", "go.mod", ""},
	{"mcp-go-1.2.1", "mcpgo", "v1.2.1.mod", "mcpgo_v1_2_1"},
}

// statelessBuild speaks the stateless revision and has no handshake as a server.
var statelessBuild = goBuild{"go-sdk-1.8.0-stateless", "gosdk", "v1.8.0.mod", "sdk_v1_8_0,stateless"}

var nodeVersions = []string{"1.10.2", "1.12.3", "1.17.5", "1.23.1", "1.24.3", "1.32.2"}

// allPeers names every peer; bin is where the Go ones are built.
func allPeers(bin string) []peer {
	var peers []peer
	for _, v := range nodeVersions {
		alias := "sdk-" + v
		peers = append(peers, peer{
			name:   "ts-" + v,
			server: []string{"node", filepath.Join("peers", "node", "server.mjs"), alias},
			client: []string{"node", filepath.Join("peers", "node", "client.mjs"), alias},
		})
	}
	for _, b := range goBuilds {
		path := filepath.Join(bin, b.name)
		peers = append(peers, peer{name: b.name, server: []string{path, "server"}, client: []string{path, "client"}})
	}
	return peers
}

func buildPeers(ctx context.Context, bin string) error {
	if _, err := os.Stat("node_modules"); err != nil {
		if err := quietly(ctx, "npm", "ci", "--no-audit", "--no-fund"); err != nil {
			return err
		}
	}
	for _, b := range append(slices.Clone(goBuilds), statelessBuild) {
		dir := filepath.Join("peers", b.dir)
		args := []string{"build", "-C", dir, "-modfile=" + b.modfile, "-tags=" + b.tags, "-o", filepath.Join(bin, b.name), "."}
		if err := quietly(ctx, "go", args...); err != nil {
			return fmt.Errorf("peer %s: %w", b.name, err)
		}
	}
	return nil
}

// builtBridge is the one bridge that all tests run.
var builtBridge = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	return buildBridge(ctx, binDir)
})

func buildBridge(ctx context.Context, bin string) (string, error) {
	if *bridgePath != "" {
		return *bridgePath, nil
	}
	path := filepath.Join(bin, "mcpbridge")
	return path, quietly(ctx, "go", "build", "-C", "..", "-o", path, "./cmd/mcpbridge")
}

// quietly runs a command whose output only matters when it fails.
func quietly(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	return nil
}
