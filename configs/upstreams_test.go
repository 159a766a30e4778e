package configs_test

import (
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
)

// What an upstream does not say is as the route says, wherever that stands.
func TestUpstreams(t *testing.T) {
	got, err := load(t, "a.yaml", `
defaults: {upstream_version: "2024-11-05"}
routes:
- name: a
  upstreams:
  - {name: new, upstream: "http://new:1/", weight: 10, client_versions: ["2025-03-26"], strict: false, headers: {X-B: b}}
  - {name: old, upstream: "http://old:1/", match: {name: "c*", header: {x-canary: "y*"}}}
  - {name: program, command: run, args: [fast], weight: 0}
  strict: true
  headers: {X-A: a}
  clients: [{match: {name: z}, request_timeout: 1s}]
`)
	if err != nil {
		t.Fatal(err)
	}
	all := got.Routes[0].Branches()
	if len(all) != 3 {
		t.Fatal(all)
	}
	first, second, third := all[0], all[1], all[2]
	if s := first.Server; first.Name != "new" || first.Weight != 10 || s.Options.Strict || s.Headers.Get("X-A") != "" || s.Headers.Get("X-B") != "b" || len(s.ClientVersions) != 1 {
		t.Errorf("the first is %+v", first)
	}
	if s := second.Server; second.Weight != 1 || second.Rule.Name != "c*" || second.Rule.Header["X-Canary"] != "y*" || !s.Options.Strict || s.Headers.Get("X-A") != "a" || s.UpstreamVersion != "2024-11-05" {
		t.Errorf("the second is %+v", second)
	}
	if s := third.Server; third.Weight != 0 || len(s.Command.Args) != 2 || len(s.Headers) != 0 || s.Credentials != "" {
		t.Errorf("the third is %+v", third)
	}
	for _, u := range all {
		if len(u.Server.Clients) != 1 || u.Server.Upstreams != nil {
			t.Errorf("%s lacks the exceptions of the route", u.Name)
		}
	}
}

// Credentials of clients go to one origin, unless the file says more
// (decision 9).
func TestCredentialsOfSeveralOrigins(t *testing.T) {
	for name, tc := range map[string]struct {
		more, second string
		want         [2]mcp.Credentials
	}{
		"one origin":   {"", "HTTP://a:1/new", [2]mcp.Credentials{mcp.CredentialsForward, mcp.CredentialsForward}},
		"two":          {"", "http://b:1/", [2]mcp.Credentials{mcp.CredentialsNone, mcp.CredentialsNone}},
		"two, said so": {"credentials: forward, ", "http://b:1/", [2]mcp.Credentials{mcp.CredentialsForward, mcp.CredentialsForward}},
		"another port": {"", "http://a:2/", [2]mcp.Credentials{mcp.CredentialsNone, mcp.CredentialsNone}},
		"one says so":  {"", `http://b:1/", credentials: "forward`, [2]mcp.Credentials{mcp.CredentialsNone, mcp.CredentialsForward}},
	} {
		got, err := load(t, "a.yaml", `routes: [{name: a, `+tc.more+`upstreams: [{name: x, upstream: "http://a:1/"}, {name: y, upstream: "`+tc.second+`"}]}]`)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, s := range got.Routes[0].Servers() {
			if c := s.EffectiveCredentials(); c != tc.want[i] {
				t.Errorf("%s: server %d gets %s", name, i, c)
			}
		}
	}
}

func TestWrongUpstreams(t *testing.T) {
	for list, want := range map[string]string{
		`[{upstream: "http://a/"}]`: "routes[0].upstreams[0].name: the name is missing",
		`[{name: x}]`:               "routes[0].upstreams[0].upstream: no upstream was given",
		`[{name: x, upstream: "http://a/", command: b}]`:                          "routes[0].upstreams[0].upstream: there is a command too",
		`[{name: x, upstream: "http://a/"}, {name: x, upstream: "http://b/"}]`:    `routes[0].upstreams[1].name: "x" is the name of another upstream`,
		`[{name: x/, upstream: "http://a/"}]`:                                     `routes[0].upstreams[0].name: "x/" is no name`,
		`[{name: x, upstream: "http://a/", weight: -1}]`:                          "routes[0].upstreams[0].weight: -1 is no weight",
		`[{name: x, upstream: "http://a/", weight: 0}]`:                           "routes[0].upstreams: none of them takes anybody",
		`[{name: x, upstream: "http://a/", weight: 5, match: {name: a}}]`:         "routes[0].upstreams[0].weight: the upstream takes those who match",
		`[{name: x, upstream: "http://a/", match: {version: ">=x"}}]`:             "routes[0].upstreams[0].match.version: ",
		`[{name: x, upstream: "http://a/", match: {header: {"X Y": a}}}]`:         "routes[0].upstreams[0].match.header: a name holds",
		`[{name: x, upstream: "http://a/", match: {header: {X: "[a"}}}]`:          "routes[0].upstreams[0].match.header.X: ",
		`[{name: x, upstream: "http://a/", path: /x}]`:                            "routes[0].upstreams[0].path: there is no such key",
		`[{name: x, upstream: "http://a/", loss: maybe}]`:                         `routes[0].upstreams[0].loss: "maybe" is not known`,
		`[{name: x, upstream: "http://a/", client_versions: [1]}]`:                `routes[0].upstreams[0].client_versions: "1" is not known`,
		`[{name: x, upstream: "http://a/"}], upstream: "http://b/"`:               "routes[0].upstreams: there is an upstream or a command beside them",
		`[{name: x, upstream: "http://a/", wieght: 3}]`:                           "did you mean weight?",
		`[{name: x, upstream: "http://a/", weight: 1000001}]`:                     "from 0 to 1000000",
		`[{name: x, upstream: "http://a/"}, {name: y, command: b, cwd: 1, a: 1}]`: "routes[0].upstreams[1].a: there is no such key",
	} {
		_, err := load(t, "a.yaml", "routes: [{name: a, upstreams: "+list+"}]")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", list, err, want)
		}
	}
	_, err := load(t, "a.yaml", `routes: [{name: a, loss: maybe, upstreams: [{name: x, upstream: "http://a/"}, {name: y, upstream: "http://b/"}]}]`)
	if faults, ok := err.(configs.Faults); !ok || len(faults) != 1 {
		t.Errorf("what is wrong with the route is told as %v", err)
	}
}
