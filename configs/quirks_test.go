package configs_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// What a file says of quirks, for a route or for all, replaces the defaults.
func TestQuirks(t *testing.T) {
	c, err := load(t, "quirks.yaml", `
defaults:
  quirks:
  - {name: split-type-lists, client: {name: "acme*", version: "<2"}}
  - {name: accept-respelled-ids, server: {name: odd}, enabled: false}
routes:
- {name: a, upstream: http://a/}
- {name: b, upstream: http://b/, quirks: off}
- {name: c, upstream: http://c/, quirks: []}
- name: d
  upstream: http://d/
  quirks: {name: drop-experimental-capabilities}
  clients:
  - {match: {name: x}, strict: true}
  - {match: {name: y}, quirks: off}
`)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]mcp.Quirks{}
	for _, r := range c.Routes {
		got[r.Name] = r.Options.Quirks
		for _, exception := range r.Clients {
			got[string(exception.Match.Name)] = exception.Options.Quirks
		}
	}
	dropping := mcp.Quirks{Rules: []mcp.QuirkRule{{Quirk: "drop-experimental-capabilities", Enabled: true}}}
	want := map[string]mcp.Quirks{
		"a": {Rules: []mcp.QuirkRule{
			{Quirk: "split-type-lists", Client: mcp.ClientMatch{Name: "acme*", Version: "<2"}, Enabled: true},
			{Quirk: "accept-respelled-ids", Server: mcp.ClientMatch{Name: "odd"}},
		}},
		"b": {Off: true}, "c": {}, "d": dropping, "x": dropping, "y": {Off: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// A file that is wrong about quirks is refused, with the place and the names
// that there are.
func TestWrongQuirks(t *testing.T) {
	_, err := load(t, "b.yaml", `routes:
- name: a
  upstream: http://a/
  quirks:
  - {name: split-types}
  - {name: split-type-lists, client: {version: ">="}}
  - {client: {name: a}}
  - {name: drop-experimental-capabilities, server: {name: swift}}
`)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`:5:12: routes[0].quirks[0].name: "split-types" is no quirk; those are answer-needs-capability-with-200, split-type-lists, `,
		":6:48: routes[0].quirks[1].client.version: ",
		`routes[0].quirks[2].name: "" is no quirk`,
		":8:52: routes[0].quirks[3].server: drop-experimental-capabilities acts before a server has told its name",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in\n%v", want, err)
		}
	}
	if _, err := load(t, "b.yaml", "routes: [{name: b, upstream: http://b/, quirks: on}]\n"); err == nil || !strings.Contains(err.Error(), `:1:49: routes[0].quirks: "on" is neither off nor a list`) {
		t.Errorf("quirks: on gives %v", err)
	}
}
