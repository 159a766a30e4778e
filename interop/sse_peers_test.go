package interop

import (
	"path/filepath"
	"slices"
	"strings"
)

// overSSE begins the names of peers that speak HTTP+SSE, in results, logs and
// exceptions; the rest of the name is that of the same SDK's other peer.
const overSSE = "sse:"

// overSSE says whether the exception is about peers of HTTP+SSE.
func (e *exception) overSSE() bool {
	return strings.HasPrefix(e.fields[0], overSSE) || strings.HasPrefix(e.fields[1], overSSE)
}

// mcpGo drops requests from the server when its client is one of HTTP+SSE.
const mcpGo = "mcp-go-1.2.1"

// stepsOf leaves out what could only end by a timeout: asking a deaf client. Where
// it has not declared that it can be asked, the bridge answers for it.
func (p peer) stepsOf(k key, mode string) []string {
	if !p.deaf || mode != "direct" && k.caps == "none" {
		return steps
	}
	return slices.DeleteFunc(slices.Clone(steps), asks)
}

// asks says whether the server asks the client back in that step.
func asks(step string) bool {
	return strings.HasPrefix(step, "ask") || step == "sample" || step == "roots"
}

// ssePeers are the SDKs that speak HTTP+SSE, and those of them that speak
// Streamable HTTP too: the oldest knows only the one.
func ssePeers(bin string) (older, newer []peer) {
	for _, v := range []string{"1.9.0", "1.32.2"} {
		older = append(older, peer{
			name:   overSSE + "ts-" + v,
			server: []string{"node", filepath.Join("peers", "node", "sse-server.mjs"), "sdk-" + v},
			client: []string{"node", filepath.Join("peers", "node", "client.mjs"), "sdk-" + v},
		})
	}
	for _, name := range []string{"go-sdk-1.8.0", mcpGo} {
		path := filepath.Join(bin, name)
		older = append(older, peer{
			name:   overSSE + name,
			server: []string{path, "server", "--sse"},
			client: []string{path, "client"},
			deaf:   name == mcpGo,
		})
	}
	for _, p := range allPeers(bin) {
		for _, o := range older {
			if o.name == overSSE+p.name {
				newer = append(newer, p)
			}
		}
	}
	return older, newer
}
