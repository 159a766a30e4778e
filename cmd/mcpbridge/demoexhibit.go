package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// demoExhibit shows one thing without and with the bridge. It is made of what
// came over the wire, and checks that this is what the demo claims.
type demoExhibit struct {
	title           string
	direct, bridged demoSide
	why             string
	checks          int
	unmet           []string // what does not hold of them
}

// demoSide is what a client got on one of the two ways.
type demoSide struct {
	good  bool     // the client can use it
	lines []string // remarks of the demo's own start with an arrow
}

func (e *demoExhibit) expect(holds bool, what string) {
	e.checks++
	if !holds {
		e.unmet = append(e.unmet, what)
	}
}

// demoExhibits compares the two conversations, message by message.
func demoExhibits(direct, bridged *demoTalk) []demoExhibit {
	return []demoExhibit{
		showHandshake(direct, bridged), showBatch(direct, bridged), showInventory(direct, bridged),
		showBooking(direct, bridged), showReport(direct, bridged), showList(direct, bridged),
	}
}

// because quotes a change of the ladder: its name, what it does and where the
// specification says so.
func because(change string) string {
	for _, r := range rewrite.Standard() {
		for _, c := range r.Changes {
			if c.Name == change {
				return c.Name + ": " + c.Doc + " " + c.Source + "."
			}
		}
	}
	return change
}

func showHandshake(d, b *demoTalk) demoExhibit {
	direct, bridged := resultOf(d.hello.answers[0]), resultOf(b.hello.answers[0])
	e := demoExhibit{
		title:   "initialize, asking for " + demoClientVersion,
		direct:  demoSide{false, append(helloLines(direct), remark+"not a version of this client: it has to leave")},
		bridged: demoSide{true, helloLines(bridged)},
		why:     `two handshakes, each in the version of its side. basic/lifecycle "Version Negotiation".`,
	}
	e.expect(direct.Text("protocolVersion") == demoServerVersion, "the server answers "+demoServerVersion)
	e.expect(bridged.Text("protocolVersion") == demoClientVersion, "the bridge answers "+demoClientVersion)
	e.expect(slices.Equal(membersOf(bridged.Object("serverInfo")), []string{"name", "version"}), "serverInfo has the members of "+demoClientVersion)
	return e
}

func helloLines(hello *mcp.Object) []string {
	return []string{
		"protocolVersion " + hello.Text("protocolVersion"),
		"serverInfo with " + strings.Join(membersOf(hello.Object("serverInfo")), ", "),
	}
}

func membersOf(o *mcp.Object) []string {
	var names []string
	o.Each(func(name string, _ mcp.Raw) bool { names = append(names, name); return true })
	return names
}

func showBatch(d, b *demoTalk) demoExhibit {
	e := demoExhibit{
		title:   "a batch of three tools/call and one tools/list",
		direct:  demoSide{false, []string{statusLine(d.batch)}},
		bridged: demoSide{true, []string{statusLine(b.batch), remark + strconv.Itoa(len(b.batch.answers)) + " answers to 4 requests"}},
		why:     "the parts are served one by one, the answers gathered. Batches exist in 2025-03-26 alone (PR" + glue + "#228, #416).",
	}
	for _, a := range d.batch.answers {
		e.direct.lines = append(e.direct.lines, "error "+strconv.Itoa(a.Code())+" "+a.Body.Text("message"))
	}
	e.expect(d.batch.status == http.StatusBadRequest, "the server refuses the batch")
	e.expect(b.batch.status == http.StatusOK && len(b.batch.answers) == 4, "the bridge gives 4 answers")
	for _, name := range slices.Sorted(maps.Keys(b.answers)) {
		e.expect(b.answers[name] != nil, "the bridge answers "+name+" once")
	}
	e.expect(len(b.batch.problems) == 0, "all that the bridge sends is JSON-RPC")
	return e
}

func statusLine(r *demoReply) string {
	return fmt.Sprintf("HTTP %d %s, %s", r.status, http.StatusText(r.status), r.media)
}

func showInventory(d, b *demoTalk) demoExhibit {
	direct, bridged := d.result(demoInventory), b.result(demoInventory)
	e := demoExhibit{
		title:   demoInventory + " answers with structuredContent alone",
		direct:  demoSide{false, []string{structuredLine(direct), remark + "no content, which this client requires"}},
		bridged: demoSide{true, append(blockLines(bridged), structuredLine(bridged))},
		why:     because("inject-text"),
	}
	e.expect(!direct.Has("content"), "the server sends no content")
	e.expect(slices.Equal(textsOf(bridged), []string{demoStock}), "the text is the JSON, digit for digit")
	e.expect(structuredLine(direct) == structuredLine(bridged), "structuredContent stays as it was")
	return e
}

func showBooking(d, b *demoTalk) demoExhibit {
	direct, bridged, again := d.result(demoBookTable), b.result(demoBookTable), resultOf(b.again)
	e := demoExhibit{
		title:   demoBookTable + " asks the user within the call",
		direct:  demoSide{false, blockLines(direct)},
		bridged: demoSide{true, append(blockLines(bridged), remark+"and the next call, which gives both:")},
		why:     because("answer-undeclared"),
	}
	for _, m := range d.asked {
		e.direct.lines = slices.Insert(e.direct.lines, 0, "request "+m.Method, remark+"which it does not know")
	}
	e.bridged.lines = append(e.bridged.lines, blockLines(again)...)
	e.expect(len(d.asked) == 1 && d.asked[0].Method == mcp.Elicit, "the server asks the client directly")
	e.expect(len(b.asked) == 0, "the bridge asks the client nothing")
	texts := textsOf(bridged)
	e.expect(len(texts) == 2 && strings.Contains(texts[1], "guests (integer, required)"), "the result names the field that was asked for")
	e.expect(len(textsOf(again)) == 1 && !again.Has("isError"), "the next call books the table")
	return e
}
