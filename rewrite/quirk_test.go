package rewrite_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/internal/golden"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// called is a peer that calls itself so.
func called(version mcp.Version, name, own string) mcp.Peer {
	return mcp.Peer{
		Version: version, Capabilities: mcp.MustObject(`{"tools":{}}`),
		Info: mcp.MustObject(fmt.Sprintf(`{"name":%q,"version":%q}`, name, own)),
	}
}

// sent is what comes out of a pipeline, and the quirks that it says it used.
func sent(t *testing.T, f rewrite.Facing, m *mcp.Message, to mcp.Side) (string, []string) {
	t.Helper()
	key := mcp.CallKey(100)
	o := rewrite.Standard().Pipeline(f, rewrite.Deps{}, func() mcp.CallKey { key++; return key }).Send(m, to, time.Now())
	if len(o.Actions) != 1 || o.Actions[0].To != to {
		t.Fatalf("%v", o.Actions)
	}
	return string(o.Actions[0].Msg.Body.Raw()), o.Quirks
}

func result(method, body string) *mcp.Message {
	return &mcp.Message{Kind: mcp.Result, ID: mcp.IntID(1), Method: method, Body: mcp.MustObject(body), Call: 1}
}

const (
	listed = `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":["number","null"],"description":"d"}}}}]}`
	split  = `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"description":"d","anyOf":[{"type":"number"},{"type":"null"}]}}}}]}`
	linked = `{"content":[{"type":"text","text":"done"},{"type":"resource_link","uri":"https://h/a.png","name":"a.png"}]}`
	spelt  = `{"content":[{"type":"text","text":"done"},{"type":"text","text":"Resource link: a.png\nURI: https://h/a.png"}]}`
	opened = `{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"codex/auth-change":{},"plain":"yes"}},"clientInfo":{"name":"c","version":"1"}}`
	plain  = `{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"plain":"yes"}},"clientInfo":{"name":"c","version":"1"}}`
)

// ruled are options with one rule about a quirk.
func ruled(name string, client, server mcp.ClientMatch, enabled bool) mcp.Options {
	o := mcp.DefaultOptions()
	o.Quirks.Rules = []mcp.QuirkRule{{Quirk: name, Client: client, Server: server, Enabled: enabled}}
	return o
}

// A quirk that edits messages does so for its peers, and for those that an
// operator names, by name and range of versions; and says so each time.
func TestQuirksThatEdit(t *testing.T) {
	const v = mcp.Version("2025-06-18")
	none, all := mcp.ClientMatch{}, mcp.ClientMatch{Name: "*"}
	acme := mcp.ClientMatch{Name: "acme-*", Version: ">=1.2 <2"}
	off := mcp.DefaultOptions()
	off.Quirks = mcp.Quirks{Off: true}
	list := func() *mcp.Message { return result(mcp.ToolsList, listed) }
	link := func() *mcp.Message { return result(mcp.ToolsCall, linked) }
	open := func() *mcp.Message {
		m := mcp.NewRequest(mcp.Initialize, mcp.MustObject(opened))
		m.Call = 1
		return m
	}
	for name, tc := range map[string]struct {
		quirk        string
		client, name string // and its version
		options      mcp.Options
		message      func() *mcp.Message
		to           mcp.Side
		want         string // "" is what went in
	}{
		"lists, the shipped client":     {"split-type-lists", "mcp-broker", "0.0.1", mcp.DefaultOptions(), list, mcp.Client, split},
		"lists, another client":         {"split-type-lists", "other", "0.0.1", mcp.DefaultOptions(), list, mcp.Client, ""},
		"lists, turned off":             {"split-type-lists", "mcp-broker", "0.0.1", ruled("split-type-lists", none, none, false), list, mcp.Client, ""},
		"lists, off for later versions": {"split-type-lists", "mcp-broker", "0.9", ruled("split-type-lists", mcp.ClientMatch{Name: "mcp-broker", Version: ">=1"}, none, false), list, mcp.Client, split},
		"lists, all quirks off":         {"split-type-lists", "mcp-broker", "0.0.1", off, list, mcp.Client, ""},
		"lists, on within the range":    {"split-type-lists", "acme-x", "1.9.1", ruled("split-type-lists", acme, none, true), list, mcp.Client, split},
		"lists, on outside the range":   {"split-type-lists", "acme-x", "2.0", ruled("split-type-lists", acme, none, true), list, mcp.Client, ""},
		"lists, on for another server":  {"split-type-lists", "acme-x", "1.9", ruled("split-type-lists", acme, mcp.ClientMatch{Name: "other"}, true), list, mcp.Client, ""},
		"links, nobody shipped":         {"spell-out-resource-links", "kiro", "1", mcp.DefaultOptions(), link, mcp.Client, ""},
		"links, on within the range":    {"spell-out-resource-links", "acme-x", "1.2", ruled("spell-out-resource-links", acme, none, true), link, mcp.Client, spelt},
		"links, on outside the range":   {"spell-out-resource-links", "acme-x", "1.1", ruled("spell-out-resource-links", acme, none, true), link, mcp.Client, ""},
		"experimental, nobody shipped":  {"drop-experimental-capabilities", "c", "1", mcp.DefaultOptions(), open, mcp.Server, ""},
		"experimental, on for all":      {"drop-experimental-capabilities", "c", "1", ruled("drop-experimental-capabilities", none, all, true), open, mcp.Server, plain},
		"experimental, on for a client": {"drop-experimental-capabilities", "acme-x", "1.5", ruled("drop-experimental-capabilities", acme, none, true), open, mcp.Server, plain},
		"experimental, another client":  {"drop-experimental-capabilities", "acme-x", "1", ruled("drop-experimental-capabilities", acme, none, true), open, mcp.Server, ""},
	} {
		f := rewrite.Facing{Client: called(v, tc.client, tc.name), Server: called(v, "server", "1"), Options: tc.options}
		if tc.to == mcp.Server {
			f.Server = mcp.Peer{Version: v} // that has not told its name
		}
		want, used := tc.want, []string{tc.quirk}
		if want == "" {
			want, used = string(tc.message().Body.Raw()), nil
		}
		got, quirks := sent(t, f, tc.message(), tc.to)
		if got != want || !slices.Equal(quirks, used) {
			t.Errorf("%s: %s, used %v", name, got, quirks)
		}
		if f.Quirk(tc.quirk) != (tc.want != "") {
			t.Errorf("%s: acts %v", name, f.Quirk(tc.quirk))
		}
	}
}

// A message that has nothing of a quirk in it goes through as it is, and a
// second look changes nothing more.
func TestQuirksEditOnlyWhatTheyName(t *testing.T) {
	f := rewrite.Facing{Client: called("2025-06-18", "mcp-broker", "0.0.1"), Server: called("2025-06-18", "s", "1"), Options: mcp.DefaultOptions()}
	for property, want := range map[string]string{
		`{"type":"number"}`:                          "",
		`{"anyOf":[{"type":"number"}]}`:              "",
		`{"type":[]}`:                                "",
		`{"type":[1]}`:                               "",
		`{"type":["number","null"],"allOf":1}`:       `{"allOf":1,"anyOf":[{"type":"number"},{"type":"null"}]}`,
		`{"type":["number"]}`:                        `{"type":"number"}`,
		`{"type":["a","b"],"anyOf":[{}]}`:            `{"anyOf":[{}],"allOf":[{"anyOf":[{"type":"a"},{"type":"b"}]}]}`,
		`{"type":["a","b"],"anyOf":[1],"allOf":[2]}`: `{"anyOf":[1],"allOf":[2,{"anyOf":[{"type":"a"},{"type":"b"}]}]}`,
		`{"type":["a","b"],"anyOf":[1],"allOf":2}`:   "",
		`{"items":{"type":["a","b"]}}`:               "", // the clients look no deeper
	} {
		body := func(p string) string {
			return `{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"p":` + p + `}}}]}`
		}
		changed := want != ""
		if !changed {
			want = property
		}
		got, used := sent(t, f, result(mcp.ToolsList, body(property)), mcp.Client)
		if got != body(want) || (len(used) > 0) != changed {
			t.Errorf("%s: %s, used %v", property, got, used)
		}
		if again, used := sent(t, f, result(mcp.ToolsList, got), mcp.Client); again != got || len(used) > 0 {
			t.Errorf("%s, again: %s, used %v", property, again, used)
		}
	}
}

// Every entry says who, what and where it was reported.
func TestQuirkTable(t *testing.T) {
	changes := rewrite.Standard().Changes()
	for _, q := range rewrite.Quirks() {
		if q.Doc == "" || !strings.HasPrefix(q.Report, "https://") || q.Of != mcp.Client && q.Of != mcp.Server || slices.Contains(changes, q.Name) {
			t.Errorf("%+v", q)
		}
		for _, m := range q.Peers {
			if err := m.Valid(); err != nil {
				t.Errorf("%s: %v", q.Name, err)
			}
		}
	}
	names := rewrite.QuirkNames()
	if slices.Sort(names); len(slices.Compact(names)) != len(rewrite.Quirks()) {
		t.Errorf("a name occurs twice: %v", names)
	}
}

func TestValidQuirk(t *testing.T) {
	good := mcp.QuirkRule{Quirk: "split-type-lists", Client: mcp.ClientMatch{Name: "a", Version: "<2"}}
	early := mcp.QuirkRule{Quirk: "drop-experimental-capabilities", Client: mcp.ClientMatch{Name: "a"}, Server: mcp.ClientMatch{Name: "*"}}
	for _, r := range []mcp.QuirkRule{good, early, {Quirk: "split-type-lists"}} {
		if err := rewrite.ValidQuirk(r); err != nil {
			t.Error(err)
		}
	}
	for field, r := range map[string]mcp.QuirkRule{
		"name":            {Quirk: "split-types"},
		"client.version":  {Quirk: "split-type-lists", Client: mcp.ClientMatch{Version: ">="}},
		"server.protocol": {Quirk: "split-type-lists", Server: mcp.ClientMatch{Protocol: ">2"}},
		"server":          {Quirk: "drop-experimental-capabilities", Server: mcp.ClientMatch{Name: "swift"}},
	} {
		var wrong *mcp.FieldError
		if err := rewrite.ValidQuirk(r); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

const quirkPage = "../docs/quirks.md"

// TestQuirkPage: docs/quirks.md is written from the table.
func TestQuirkPage(t *testing.T) {
	want := quirkTable()
	if golden.Updating() {
		if err := os.WriteFile(quirkPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(quirkPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the table says; write it anew with: go test ./rewrite -run QuirkPage -update", quirkPage)
	}
}

const quirkPreamble = `# Known misbehaving peers

This page is generated from the table in ` + "`rewrite/quirktable.go`" + `. A quirk is a repair for peers that break the protocol
in a way that must not be mended for everybody. What harms nobody is mended always; [compatibility.md](compatibility.md) lists that.

A quirk acts in a conversation with one of its peers, by what the peer says of itself. Where the table names none, the
peers do not tell by their name what they are built with: turn the quirk on for those that you know. Each use counts in
` + "`mcpbridge_quirks_total{quirk}`" + `.

A route (or ` + "`defaults`" + `) overrides the table. The first entry of a quirk that fits both peers decides:

` + "```yaml" + `
quirks:
  - {name: spell-out-resource-links, client: {name: "acme-ide", version: "<1.2"}}   # on, for these
  - {name: split-type-lists, enabled: false}                                        # off, for all
` + "```" + `

` + "`client`" + ` and ` + "`server`" + ` take ` + "`name`" + ` (with ` + "`*`" + ` and ` + "`?`" + `), ` + "`version`" + ` and ` + "`protocol`" + `. What is left out fits all. ` + "`quirks: off`" + ` turns all off.
An **early** one acts before a server has told its name, so its entries can name clients only; put it on the server's route.

| quirk | of | acts for | what is wrong, and what is done | report |
|---|---|---|---|---|
`

func quirkTable() string {
	var b strings.Builder
	b.WriteString(quirkPreamble)
	for _, q := range rewrite.Quirks() {
		of := q.Of.String() + "s"
		if q.Early {
			of += ", early"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | <%s> |\n", q.Name, of, actsFor(q.Peers), cell(q.Doc), q.Report)
	}
	return b.String()
}

func actsFor(peers []mcp.ClientMatch) string {
	var all []string
	for _, m := range peers {
		if m.Name == "*" {
			all = append(all, "all")
			continue
		}
		all = append(all, strings.TrimSpace("`"+string(m.Name)+"` "+m.Version))
	}
	if len(all) == 0 {
		return "nobody, unless configured"
	}
	return strings.Join(all, ", ")
}
