package main

import (
	"strconv"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// demoTool is a tool as its server lists it and as it works.
type demoTool struct {
	name       string
	definition mcp.Raw
	run        func(*demoCall) (*mcp.Object, error)
}

const demoIcon = `[{"src":"data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCA4IDgiPjxjaXJjbGUgY3g9IjQiIGN5PSI0IiByPSI0Ii8+PC9zdmc+","mimeType":"image/svg+xml","sizes":["any"]}]`

// demoHello answers initialize, with all that the version says of a server.
func demoHello() *mcp.Object {
	return mcp.MustObject(`{"protocolVersion":"` + demoServerVersion + `","capabilities":{"tools":{}},"serverInfo":{` +
		`"name":"restaurant","title":"The demo's restaurant","version":"1.0.0","description":"Three tools that older clients cannot take.",` +
		`"icons":` + demoIcon + `,"websiteUrl":"https://example.com/restaurant"}}`)
}

// The names of the tools.
const (
	demoInventory = "inventory"
	demoBookTable = "book_table"
	demoReport    = "report"
)

func demoTools() []demoTool {
	return []demoTool{
		{demoInventory, demoDefinition(`{"name":"inventory","title":"Inventory","icons":` + demoIcon + `,
			"description":"Tells how much of an item is in stock.",
			"inputSchema":{"type":"object","properties":{"item":{"type":"string"}},"required":["item"]},
			"outputSchema":{"type":"object","properties":{"grains":{"type":"integer"}},"required":["grains"]},
			"annotations":{"readOnlyHint":true,"openWorldHint":false}}`), takeStock},
		{demoBookTable, demoDefinition(`{"name":"book_table","title":"Book a table","icons":` + demoIcon + `,
			"description":"Books a table for an evening. Asks the user for what is not given.",
			"inputSchema":{"type":"object","properties":{"evening":{"type":"string"},"guests":{"type":"integer"},"seating":{"type":"string"}},"required":["evening"]},
			"outputSchema":{"type":"object","properties":{"guests":{"type":"integer"},"seating":{"type":"string"}},"required":["guests","seating"]},
			"annotations":{"readOnlyHint":false,"destructiveHint":false}}`), bookTable},
		{demoReport, demoDefinition(`{"name":"report","title":"Weekly report","icons":` + demoIcon + `,
			"description":"Sums up a week, in writing and spoken, and links to all of it.",
			"inputSchema":{"type":"object","properties":{"week":{"type":"integer"}}},
			"outputSchema":{"type":"object","properties":{"week":{"type":"integer"},"covers":{"type":"integer"}},"required":["week","covers"]},
			"annotations":{"readOnlyHint":true}}`), writeReport},
	}
}

func demoDefinition(text string) mcp.Raw { return mcp.MustObject(text).Raw().Compact() }

func demoList(tools []demoTool) *mcp.Object {
	list := mcp.NewArray()
	for _, t := range tools {
		list.Add(t.definition)
	}
	result := mcp.NewObject()
	result.SetArray("tools", list)
	return result
}

// demoStock holds 2^53+1, the first integer that a float64 cannot.
const demoStock = `{"grains":9007199254740993}`

// takeStock answers with structured content alone, as servers do that were
// written for clients that read it.
func takeStock(*demoCall) (*mcp.Object, error) {
	return mcp.MustObject(`{"structuredContent":` + demoStock + `}`), nil
}

// bookTable asks the user in the middle of the call for what it was not told.
func bookTable(c *demoCall) (*mcp.Object, error) {
	order := c.request.Body.Object("arguments")
	if !order.Has("guests") {
		answer, err := c.ask(mcp.MustObject(`{"message":"How many guests, and where?","requestedSchema":{"type":"object",` +
			`"properties":{"guests":{"type":"integer","minimum":1,"maximum":12},"seating":{"type":"string","enum":["inside","terrace"]}},` +
			`"required":["guests"]}}`))
		switch {
		case err != nil:
			return nil, err
		case answer.Kind == mcp.Failure:
			return notBooked("the question failed: " + answer.Body.Text("message")), nil
		case answer.Body.Text("action") != "accept":
			return notBooked("as the user did not answer"), nil
		}
		order = answer.Body.Object("content")
	}
	guests, _ := order.Get("guests")
	if n, err := strconv.Atoi(string(guests)); err != nil || n < 1 || n > 12 {
		return notBooked("as guests must be a number from 1 to 12"), nil
	}
	seating := "inside"
	if order.Text("seating") == "terrace" {
		seating = "terrace"
	}
	booked := mcp.MustObject(`{"content":[]}`)
	booked.Array("content").AddObject(demoText("Booked: a table for " + string(guests) + ", " + seating))
	booked.Set("structuredContent", mcp.Raw(`{"guests":`+string(guests)+`,"seating":"`+seating+`"}`))
	return booked, nil
}

func notBooked(why string) *mcp.Object {
	result := mcp.MustObject(`{"content":[],"isError":true}`)
	result.Array("content").AddObject(demoText("Nothing is booked, " + why))
	return result
}

func demoText(text string) *mcp.Object {
	block := mcp.MustObject(`{"type":"text"}`)
	block.Set("text", mcp.Quote(text))
	return block
}

// writeReport reports progress, and answers with a block of each kind that a
// revision added, beside plain text.
func writeReport(c *demoCall) (*mcp.Object, error) {
	c.progress(1, 2, "counting")
	c.progress(2, 2, "writing")
	return mcp.MustObject(`{"content":[{"type":"text","text":"Week 31: 412 covers."},` +
		`{"type":"resource_link","uri":"file:///reports/31.csv","name":"31.csv","title":"All of week 31","mimeType":"text/csv","size":20480},` +
		`{"type":"audio","mimeType":"audio/wav","data":"` + demoAudio + `"}],"structuredContent":{"week":31,"covers":412}}`), nil
}

// demoAudio is a WAV file of 16 samples.
const demoAudio = "UklGRjQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YRAAAACApsbc5NzGpoBZOSMcIzlZ"
