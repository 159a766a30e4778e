package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// stateless posts a request that stands for itself, in the version given.
func stateless(t *testing.T, endpoint, version, method, params string) (int, string) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version +
		`","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": "x",
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestClientVersions serves clients of the versions that were named.
func TestClientVersions(t *testing.T) {
	site, _, end := bridgeTo(t, upstream(t).URL+"/mcp", "--client-versions", "2026-07-28", "--upstream-era", "legacy")
	if status, text := stateless(t, site+"/mcp", "2026-07-28", "tools/call", `"name":"x","arguments":{},`); status != 200 || !strings.Contains(text, `"n":9007199254740993`) {
		t.Errorf("a client of the version: %d %s", status, text)
	}
	old := &client{t: t, endpoint: site + "/mcp"}
	if status, answer := old.initialize("2025-06-18"); status != 200 || !strings.Contains(answer, "only 2026-07-28 is served here") || old.session != "" {
		t.Errorf("a client of an older version: %d %s", status, answer)
	}
	end()
	site, _, end = bridgeTo(t, upstream(t).URL+"/mcp", "--client-versions", "2025-03-26,2025-06-18", "--upstream-era", "legacy")
	if status, text := stateless(t, site+"/mcp", "2026-07-28", "tools/call", `"name":"x","arguments":{},`); status != 400 || !strings.Contains(text, "send initialize first") {
		t.Errorf("a client of another version: %d %s", status, text)
	}
	c := &client{t: t, endpoint: site + "/mcp"}
	if status, answer := c.initialize("2025-11-25"); status != 200 || !strings.Contains(answer, `"protocolVersion":"2025-06-18"`) {
		t.Errorf("a client of another version is offered one that is served: %d %s", status, answer)
	}
	end()
}
