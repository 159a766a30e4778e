package bridge_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// badInput is something wrong that a client of a live session sends, and the
// answer that it gets.
type badInput struct {
	body   string
	verb   string // POST when empty
	header []string
	status int
	code   int    // of the error in the body
	id     string // of the error, "" for none
}

const anything = `"method":"tools/call","params":{"name":"t","arguments":{}}`

// refusedByBridge lists what the bridge itself sees and counts.
func refusedByBridge() map[string]badInput {
	long := strings.Repeat("9", 1025)
	deep := strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000)
	return map[string]badInput{
		"not JSON":                {body: `hello`, status: 400, code: -32700},
		"nothing":                 {body: ``, status: 400, code: -32700},
		"blanks":                  {body: " \n", status: 400, code: -32700},
		"cut off (report 96)":     {body: `{"jsonrpc":"2.0","id":7,"method":`, status: 400, code: -32700, id: `7`},
		"cut off before the id":   {body: `{"jsonrpc":"2.0","method":`, status: 400, code: -32700},
		"two values":              {body: `{"jsonrpc":"2.0","id":"a",` + anything + `} {}`, status: 400, code: -32700, id: `"a"`},
		"a string":                {body: `"hello"`, status: 400, code: -32600},
		"null":                    {body: `null`, status: 400, code: -32600},
		"jsonrpc 1.0":             {body: `{"jsonrpc":"1.0","id":7,` + anything + `}`, status: 400, code: -32600, id: `7`},
		"jsonrpc 2":               {body: `{"jsonrpc":2.0,"id":0,` + anything + `}`, status: 400, code: -32600, id: `0`},
		"no jsonrpc":              {body: `{"id":"","method":"ping"}`, status: 400, code: -32600, id: `""`},
		"neither this nor that":   {body: `{"jsonrpc":"2.0","id":7}`, status: 400, code: -32600, id: `7`},
		"both this and that":      {body: `{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}`, status: 400, code: -32600, id: `7`},
		"null id (T50)":           {body: `{"jsonrpc":"2.0","id":null,` + anything + `}`, status: 400, code: -32600},
		"object id (report 97)":   {body: `{"jsonrpc":"2.0","id":{},` + anything + `}`, status: 400, code: -32600},
		"array id (report 97)":    {body: `{"jsonrpc":"2.0","id":[1],` + anything + `}`, status: 400, code: -32600},
		"boolean id (report 97)":  {body: `{"jsonrpc":"2.0","id":true,` + anything + `}`, status: 400, code: -32600},
		"fractional id":           {body: `{"jsonrpc":"2.0","id":1.5,` + anything + `}`, status: 400, code: -32600},
		"endless id":              {body: `{"jsonrpc":"2.0","id":` + long + `,` + anything + `}`, status: 400, code: -32600},
		"duplicate member (T58)":  {body: `{"jsonrpc":"2.0","id":58,"method":"ping",` + anything + `}`, status: 400, code: -32600, id: `58`},
		"duplicate id member":     {body: `{"jsonrpc":"2.0","id":1,"id":2,` + anything + `}`, status: 400, code: -32600},
		"duplicate params member": {body: request(`7`, "tools/call", `{"name":"t","name":"rm"}`), status: 400, code: -32600, id: `7`},
		"params no object":        {body: request(`7`, "tools/call", `[1]`), status: 400, code: -32600, id: `7`},
		"invalid UTF-8":           {body: toolCall(`7`, "t", "\"\xff\xfe\""), status: 400, code: -32700, id: `7`},
		"10,000 levels":           {body: toolCall(`7`, "t", deep), status: 400, code: -32700, id: `7`},
		"unknown session":         {body: toolCall(`7`, "t", `1`), header: []string{mcp.HeaderSession, "unknown"}, status: 404, code: -32600},
		"missing session":         {body: toolCall(`7`, "t", `1`), header: []string{mcp.HeaderSession, ""}, status: 400, code: -32600, id: `7`},
		"another principal":       {body: toolCall(`7`, "t", `1`), header: []string{"Authorization", "Bearer other"}, status: 404, code: -32600},
		"unknown version":         {body: toolCall(`"v"`, "t", `1`), header: []string{mcp.HeaderVersion, "1900-01-01"}, status: 400, code: -32600, id: `"v"`},
		"no version at all":       {body: toolCall(`7`, "t", `1`), header: []string{mcp.HeaderVersion, "not-a-version"}, status: 400, code: -32600, id: `7`},
		"second initialize":       {body: initializeWith(`7`, v4, `{}`), status: 400, code: -32600, id: `7`},
	}
}

// refusedByEndpoint lists what does not get as far as the bridge.
func refusedByEndpoint() map[string]badInput {
	good := toolCall(`7`, "t", `1`)
	return map[string]badInput{
		"over the limit": {body: toolCall(`7`, "t", `"`+strings.Repeat("x", 1<<20)+`"`), status: 413, code: -32600},
		"content type":   {body: good, header: []string{"Content-Type", "text/plain"}, status: 415, code: -32600},
		"charset":        {body: good, header: []string{"Content-Type", "application/json; charset=latin1"}, status: 415, code: -32600},
		"accept":         {body: good, header: []string{"Accept", "text/html"}, status: 406, code: -32600},
		"foreign origin": {body: good, header: []string{"Origin", "https://evil.example"}, status: 403, code: -32600},
		"PUT":            {body: good, verb: http.MethodPut, status: 405, code: -32600},
	}
}

func (in badInput) check(t *testing.T, c *client) {
	t.Helper()
	verb := in.verb
	if verb == "" {
		verb = http.MethodPost
	}
	r := c.do(verb, in.body, in.header...)
	var body struct {
		JSONRPC string
		ID      json.RawMessage
		Error   struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(r.body), &body); err != nil {
		t.Fatalf("%d %q: %v", r.status, r.body, err)
	}
	if r.status != in.status || string(body.ID) != in.id || body.Error.Code != in.code || body.JSONRPC != "2.0" || body.Error.Message == "" {
		t.Errorf("%d %s\nwant %d, id %q, code %d", r.status, r.body, in.status, in.id, in.code)
	}
	if media := r.header.Get("Content-Type"); media != "application/json" {
		t.Errorf("the body is %q", media)
	}
}

func badInputRig(t *testing.T) (*rig, *client) {
	r := newRig(t, func(s *rigging) { s.endpoint.MaxBody = 1 << 20 })
	return r, r.open(v4, `{}`)
}

// Bad input reaches no server, harms nothing else and is counted.
func TestBadInput(t *testing.T) {
	r, c := badInputRig(t)
	for name, in := range refusedByBridge() {
		t.Run(name, func(t *testing.T) {
			sent, failed := r.up.count(""), r.heard.starting("failed client")
			in.check(t, c)
			if n := r.heard.starting("failed client"); n != failed+1 {
				t.Errorf("counted %d times", n-failed)
			}
			if r.up.count("") != sent {
				t.Errorf("the upstream got %s", r.up.names())
			}
			c.works()
		})
	}
}

func TestBadInputAtTheEndpoint(t *testing.T) {
	r, c := badInputRig(t)
	for name, in := range refusedByEndpoint() {
		t.Run(name, func(t *testing.T) {
			sent := r.up.count("")
			in.check(t, c)
			if r.up.count("") != sent {
				t.Errorf("the upstream got %s", r.up.names())
			}
			c.works()
		})
	}
}

// Without a session nothing but initialize and ping is served.
func TestBadInputBeforeInitialize(t *testing.T) {
	r := newRig(t, nil)
	c := r.client()
	for name, in := range map[string]badInput{
		"request":       {body: toolCall(`"q"`, "t", `1`), status: 400, code: -32600, id: `"q"`},
		"notification":  {body: initialized, status: 400, code: -32600},
		"response":      {body: `{"jsonrpc":"2.0","id":3,"result":{}}`, status: 400, code: -32600},
		"batch":         {body: `[` + toolCall(`1`, "t", `1`) + `]`, status: 400, code: -32600},
		"DELETE":        {verb: http.MethodDelete, status: 400, code: -32600},
		"GET":           {verb: http.MethodGet, status: 405, code: -32600},
		"null id":       {body: initializeWith(`null`, v4, `{}`), status: 400, code: -32600},
		"no JSON":       {body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`, status: 400, code: -32700, id: `1`},
		"no parameters": {body: request(`1`, mcp.Initialize, `7`), status: 400, code: -32600, id: `1`},
	} {
		t.Run(name, func(t *testing.T) {
			in.check(t, c)
			if r.up.count("") != 0 || r.bridge.Sessions() != 0 {
				t.Errorf("%d sessions; the upstream got %s", r.bridge.Sessions(), r.up.names())
			}
		})
	}
	if r := c.do(http.MethodGet, ""); r.header.Get("Allow") != "POST, GET, DELETE" {
		t.Errorf("report 49: Allow is %q", r.header.Get("Allow"))
	}
	c.open(v4, `{}`)
	c.works()
}

// What no question asked for is taken, counted, and goes nowhere.
func TestBadInputResponseToNothing(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	sent := r.up.count("")
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no"}}`,
		`{"jsonrpc":"2.0","error":{"code":-1,"message":"no id"}}`,
	} {
		if r := c.post(body); r.status != http.StatusAccepted || r.body != "" || r.header.Get("Content-Type") != "" {
			t.Errorf("%s: %d %q", body, r.status, r.body)
		}
	}
	if n := r.heard.count("failed client unknown_response"); n != 3 || r.up.count("") != sent {
		t.Errorf("counted %d; the upstream got %s", n, r.up.names())
	}
	c.works()
}
