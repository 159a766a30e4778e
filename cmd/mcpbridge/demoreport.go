package main

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func showReport(d, b *demoTalk) demoExhibit {
	direct, bridged := d.result(demoReport), b.result(demoReport)
	e := demoExhibit{
		title:   demoReport + " answers with newer kinds of content",
		direct:  demoSide{false, append(blockLines(direct), remark+"no resource_link in this version: the result fails", progressLine(d))},
		bridged: demoSide{true, append(blockLines(bridged), progressLine(b))},
		why:     because("degrade-resource-link") + " Audio stays: " + demoClientVersion + " has it.",
	}
	e.expect(slices.Equal(typesOf(direct), []string{"text", "resource_link", "audio"}), "the server sends a resource link and audio")
	e.expect(slices.Equal(typesOf(bridged), []string{"text", "text", "audio"}), "the link is text, the audio stays")
	texts := textsOf(bridged)
	e.expect(len(texts) == 2 && strings.Contains(texts[1], "file:///reports/31.csv"), "the text names the URI of the link")
	e.expect(bytes.Contains(bridged.Raw(), []byte(demoAudio)), "the audio has the same bytes")
	for _, t := range []*demoTalk{d, b} {
		e.expect(len(t.notices) == 2 && tokensReturned(t), "progress comes twice, under the client's token")
	}
	return e
}

func showList(d, b *demoTalk) demoExhibit {
	direct, bridged := d.result(mcp.ToolsList), b.result(mcp.ToolsList)
	e := demoExhibit{
		title:   "tools/list, with members that are news to the client",
		direct:  demoSide{true, listLines(direct)},
		bridged: demoSide{true, append(listLines(bridged), remark+"byte for byte the same")},
		why:     "an older client ignores these, so they stay. --strict removes them: fold-title, drop-icons, drop-output-schema.",
	}
	list, _ := direct.Get("tools")
	same, _ := bridged.Get("tools")
	e.expect(len(list) > 0 && bytes.Equal(list, same), "the bridge leaves the list as it is")
	e.expect(direct.Array("tools").Len() == 3, "the server lists three tools")
	return e
}

func listLines(result *mcp.Object) []string {
	tools := result.Array("tools")
	if tools.Len() == 0 {
		return []string{"no tools"}
	}
	news := slices.DeleteFunc(membersOf(tools.Object(0)), func(name string) bool {
		return !slices.Contains([]string{"title", "icons", "outputSchema"}, name)
	})
	return []string{strconv.Itoa(tools.Len()) + " tools with " + strings.Join(news, ", ")}
}

// blockLines tells the content blocks of a tool result in a line each.
func blockLines(result *mcp.Object) []string {
	var lines []string
	content := result.Array("content")
	for i := range content.Len() {
		block := content.Object(i)
		line := block.Text("type") + " "
		switch block.Text("type") {
		case "text":
			line += block.Text("text")
		case "audio":
			line += block.Text("mimeType") + ", " + strconv.Itoa(len(block.Text("data"))) + " characters of base64"
		default:
			line += block.Text("uri")
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return []string{"no content"}
	}
	return lines
}

func structuredLine(result *mcp.Object) string {
	v, _ := result.Get("structuredContent")
	return "structuredContent " + string(v)
}

func typesOf(result *mcp.Object) []string {
	var types []string
	content := result.Array("content")
	for i := range content.Len() {
		types = append(types, content.Object(i).Text("type"))
	}
	return types
}

func textsOf(result *mcp.Object) []string {
	var texts []string
	content := result.Array("content")
	for i := range content.Len() {
		if block := content.Object(i); block.Text("type") == "text" {
			texts = append(texts, block.Text("text"))
		}
	}
	return texts
}

func progressLine(t *demoTalk) string {
	return strconv.Itoa(len(t.notices)) + " notifications/progress on the way"
}

func tokensReturned(t *demoTalk) bool {
	return !slices.ContainsFunc(t.notices, func(m *mcp.Message) bool {
		token, _ := m.Body.Get("progressToken")
		return m.Method != mcp.Progress || string(token) != demoToken
	})
}
