package interop

import (
	"path/filepath"
	"slices"
	"strings"
)

// handshakeVersions are versions of the TypeScript SDK, one for each revision with a
// handshake.
var handshakeVersions = []string{"1.10.2", "1.12.3", "1.17.5", "1.32.2"}

// stdioServers are servers on standard input and output: of the stateless revision
// alone, of both eras, and of a handshake only. That an SDK serves a revision with a
// handshake but without sessions is a thing of HTTP.
func stdioServers(bin string) []peer {
	node := func(name, alias string) peer {
		return peer{name: name, server: []string{"node", filepath.Join("peers", "node", "stdio-server.mjs"), alias}}
	}
	built := func(name, program string, posture ...string) peer {
		return peer{name: name, server: append([]string{filepath.Join(bin, program), "server", "--stdio"}, posture...)}
	}
	serial := built("mcp-go-0.32.0", "mcp-go-0.32.0")
	serial.serial = true
	servers := []peer{
		node("ts-2.4.0-stateless", "v2-modern"),
		node("ts-2.4.0-dual", "v2-dual"),
		built(statelessBuild.name, statelessBuild.name),
		built("go-sdk-1.8.0-dual", statelessBuild.name, "dual"),
		built("mcp-go-1.2.1-dual", "mcp-go-1.2.1"),
		built("go-sdk-1.0.0", "go-sdk-1.0.0"),
		serial,
	}
	// The revisions between these two are those of the last two servers above.
	for _, v := range []string{"1.10.2", "1.32.2"} {
		servers = append(servers, node("ts-"+v, "sdk-"+v))
	}
	return servers
}

// takes leaves out the step in which one call is about another one under way, where
// that would have to end first.
func (p peer) takes(steps []string) []string {
	if !p.serial {
		return steps
	}
	return slices.DeleteFunc(slices.Clone(steps), func(step string) bool { return step == "cancel" })
}

// urlServers are the servers of HTTP that clients on standard input and output visit.
func urlServers(bin string) []peer {
	dual := peer{name: "ts-2.4.0-dual", server: []string{"node", filepath.Join("peers", "node", "v2-server.mjs"), "dual"}}
	servers := append(statelessServers(bin), dual)
	return append(servers, filtered(allPeers(bin), oldOnStdio)...)
}

// stateful says whether a server has sessions only, so that legacy clients need no
// bridge to it.
func stateful(server string) bool {
	return !strings.HasSuffix(server, "-stateless") && !strings.HasSuffix(server, "-dual")
}

// oldOnStdio chooses the clients with sessions that are on standard input and output
// here, and the servers of HTTP that belong to them.
func oldOnStdio(p peer) bool {
	version, typescript := strings.CutPrefix(p.name, "ts-")
	return typescript && slices.Contains(handshakeVersions, version)
}

// newOnStdio leaves out the client without a credential, which is a thing of HTTP.
func newOnStdio(p peer) bool { return !strings.HasSuffix(p.name, "-anonymous") }

func filtered(peers []peer, fits func(peer) bool) []peer {
	return slices.DeleteFunc(peers, func(p peer) bool { return !fits(p) })
}
