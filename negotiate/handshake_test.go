package negotiate_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// answer is what a server says to one offer: JSON-RPC, or else HTTP.
type answer struct {
	status int // 0 for a JSON-RPC message
	body   string
}

func says(message string) answer { return answer{body: message} }

func refuses(status int, body string) answer { return answer{status: status, body: body} }

func agrees(version string) answer {
	return says(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"` + version + `","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
}

// offered writes an offer as the scripts do.
func offered(o negotiate.Offer) string {
	if o.WithHeader {
		return string(o.Version) + "+header"
	}
	return string(o.Version)
}

// hear tells a handshake one answer.
func hear(t testing.TB, h *negotiate.Handshake, a answer) negotiate.Verdict {
	t.Helper()
	if a.status != 0 {
		return h.Refused(&mcp.Refusal{Status: a.status, Header: http.Header{}, Body: []byte(a.body)})
	}
	return h.Answered(decode(t, a.body))
}

// talk feeds answers to a handshake until it ends or the answers do. It
// returns the offers that were made and the last verdict.
func talk(t testing.TB, h *negotiate.Handshake, answers []answer) (offers []string, last negotiate.Verdict) {
	t.Helper()
	offers = []string{offered(h.First())}
	for i, a := range answers {
		last = hear(t, h, a)
		if last.Next == nil {
			if i != len(answers)-1 {
				t.Errorf("the handshake ends after %d of %d answers", i+1, len(answers))
			}
			return offers, last
		}
		if last.Agreed != "" || last.Fault != nil {
			t.Fatalf("an offer and an end: %+v", last)
		}
		offers = append(offers, offered(*last.Next))
	}
	return offers, last
}

// conversation is a handshake by script.
type conversation struct {
	name    string
	first   mcp.Version
	answers []answer
	offers  string // separated by spaces
	agreed  mcp.Version
}

// Group A of the field reports, with the servers' own bytes.
func fieldReports() []conversation {
	return []conversation{
		{"report 1", "2025-11-25", []answer{refuses(400, "Bad Request: Unsupported protocol version (supported versions: 2025-06-18, 2025-03-26, 2024-11-05)\n"), agrees("2025-06-18")},
			"2025-11-25 2025-06-18", "2025-06-18"},
		{"report 1, no dates", "2025-11-25", []answer{refuses(400, "Bad Request\n"), refuses(400, ""), refuses(400, "Bad Request\n"), agrees("2024-11-05")},
			"2025-11-25 2025-06-18 2025-03-26 2024-11-05", "2024-11-05"},
		{"report 3", "2024-11-05", []answer{says(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`)},
			"2024-11-05", "2025-03-26"},
		{"report 4", "2024-11-05", []answer{agrees("2025-11-25")}, "2024-11-05", "2025-11-25"},
		{"report 5", "2025-11-25", []answer{says(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unsupported protocol version","data":{"code":"X","expected":"2025-06-18"}}}`), agrees("2025-06-18")},
			"2025-11-25 2025-06-18", "2025-06-18"},
		{"report 5, all refused", "2025-11-25", slices.Repeat([]answer{says(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unsupported protocol version","data":{"code":"X","expected":"2025-06-18"}}}`)}, 4),
			"2025-11-25 2025-06-18 2025-03-26 2024-11-05", ""},
		{"report 7", "2025-11-25", []answer{says(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-10-07","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"0"}}}`)},
			"2025-11-25", "2024-11-05"},
		{"report 7, between", "2025-11-25", []answer{agrees("2025-04-01")}, "2025-11-25", "2025-03-26"},
		{"report 7, newer", "2025-03-26", []answer{agrees("2025-12-31")}, "2025-03-26", "2025-11-25"},
		{"report 8", "2025-03-26", []answer{agrees("2024-11-05")}, "2025-03-26", "2024-11-05"},
		{"report 9, to initialize", "2025-11-25", []answer{refuses(400, `{"error":{"code":-32020,"message":"Unsupported MCP-Protocol-Version ..."}}`), agrees("2025-11-25")},
			"2025-11-25 2025-11-25+header", "2025-11-25"},
		{"report 14", "2025-11-25", []answer{refuses(400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Unsupported protocol version: 2026-07-28 (supported versions: 2025-11-25, 2025-06-18)"},"id":null}`), agrees("2025-06-18")},
			"2025-11-25 2025-06-18", "2025-06-18"},
		{"report 161", "2025-11-25", []answer{says(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2026-07-28","capabilities":{"tools":{}}}}`)},
			"2025-11-25", "2025-11-25"},
	}
}

// Decision 12; matrix §6.2.
func decisions() []conversation {
	refusal := func(code, text string) answer {
		return says(`{"jsonrpc":"2.0","id":1,"error":{"code":` + code + `,"message":"` + text + `"}}`)
	}
	supported := func(list string) answer {
		return says(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":[` + list + `]}}}`)
	}
	wantsHeader := refuses(400, "Bad Request: Mcp-Protocol-Version header is required")
	return []conversation{
		{"echo", "2025-06-18", []answer{agrees("2025-06-18")}, "2025-06-18", "2025-06-18"},
		{"older than all", "2025-11-25", []answer{agrees("2020-01-01")}, "2025-11-25", "2024-11-05"},
		{"supported", "2025-11-25", []answer{supported(`"2024-11-05","2025-03-26"`), agrees("2025-03-26")}, "2025-11-25 2025-03-26", "2025-03-26"},
		{"requested too", "2025-11-25", []answer{says(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"not 2025-11-25","data":{"supported":["2024-11-05"],"requested":"2025-11-25"}}}`), agrees("2024-11-05")}, "2025-11-25 2024-11-05", "2024-11-05"},
		{"data before message", "2025-11-25", []answer{says(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"not 2025-06-18","data":{"expected":"2025-03-26"}}}`), agrees("2025-03-26")}, "2025-11-25 2025-03-26", "2025-03-26"},
		{"newer than asked", "2024-11-05", []answer{supported(`"2025-06-18","2025-03-26"`), agrees("2025-06-18")}, "2024-11-05 2025-06-18", "2025-06-18"},
		{"only unknown dates", "2025-06-18", []answer{supported(`"2026-07-28","2024-10-07"`), agrees("2025-03-26")}, "2025-06-18 2025-03-26", "2025-03-26"},
		{"listed once, then down, then up", "2025-11-25", slices.Concat([]answer{supported(`"2025-03-26"`)}, slices.Repeat([]answer{supported(`"2025-06-18"`)}, 3)), "2025-11-25 2025-03-26 2024-11-05 2025-06-18", ""},
		{"newer listed, then down, then up", "2024-11-05", slices.Repeat([]answer{supported(`"2025-06-18"`)}, 4), "2024-11-05 2025-06-18 2025-03-26 2025-11-25", ""},
		{"newer only, unnamed", "2024-11-05", []answer{refusal("-32602", "bad version"), refusal("-32602", "bad version"), agrees("2025-06-18")}, "2024-11-05 2025-03-26 2025-06-18", "2025-06-18"},
		{"header and dates", "2025-11-25", []answer{refuses(400, "MCP-Protocol-Version is missing; use 2025-06-18"), agrees("2025-06-18")}, "2025-11-25 2025-06-18+header", "2025-06-18"},
		{"down, then listed", "2025-11-25", []answer{refusal("-32602", "bad version"), supported(`"2024-11-05"`), agrees("2024-11-05")}, "2025-11-25 2025-06-18 2024-11-05", "2024-11-05"},
		{"a time is no version", "2025-11-25", []answer{refuses(400, "error at 2024-11-05T10:00:00Z, id 12025-03-26"), agrees("2025-06-18")}, "2025-11-25 2025-06-18", "2025-06-18"},
		{"header", "2025-06-18", []answer{wantsHeader, agrees("2025-06-18")}, "2025-06-18 2025-06-18+header", "2025-06-18"},
		{"header once", "2025-06-18", slices.Repeat([]answer{wantsHeader}, 5), "2025-06-18 2025-06-18+header 2025-03-26+header 2024-11-05+header 2025-11-25+header", ""},
		{"header, then listed", "2025-11-25", []answer{wantsHeader, supported(`"2025-03-26"`), agrees("2025-03-26")}, "2025-11-25 2025-11-25+header 2025-03-26+header", "2025-03-26"},
		{"listed, then header", "2025-11-25", []answer{supported(`"2025-03-26"`), wantsHeader, agrees("2025-03-26")}, "2025-11-25 2025-03-26 2025-03-26+header", "2025-03-26"},
		{"-32600", "2025-03-26", []answer{refusal("-32600", "Unsupported VERSION"), agrees("2024-11-05")}, "2025-03-26 2024-11-05", "2024-11-05"},
		{"-32022", "2025-03-26", []answer{refusal("-32022", "protocolVersion"), agrees("2024-11-05")}, "2025-03-26 2024-11-05", "2024-11-05"},
		{"-32603", "2025-03-26", []answer{refusal("-32603", "want 2024-11-05"), agrees("2024-11-05")}, "2025-03-26 2024-11-05", "2024-11-05"},
		{"-32000", "2025-03-26", []answer{refusal("-32000", "version mismatch"), agrees("2024-11-05")}, "2025-03-26 2024-11-05", "2024-11-05"},
		{"another code", "2025-03-26", []answer{refusal("-32601", "no such version")}, "2025-03-26", ""},
		{"another reason", "2025-03-26", []answer{refusal("-32602", "clientInfo is required")}, "2025-03-26", ""},
		{"not for you", "2025-11-25", []answer{refuses(401, "version 2025-06-18")}, "2025-11-25", ""},
		{"not here", "2025-11-25", []answer{refuses(404, "version 2025-06-18")}, "2025-11-25", ""},
		{"broken", "2025-11-25", []answer{refuses(500, "version 2025-06-18")}, "2025-11-25", ""},
	}
}

func TestHandshakes(t *testing.T) {
	for _, tc := range append(fieldReports(), decisions()...) {
		t.Run(tc.name, func(t *testing.T) {
			offers, last := talk(t, negotiate.NewHandshake(tc.first, legacy(), legacy()), tc.answers)
			if got := strings.Join(offers, " "); got != tc.offers {
				t.Errorf("offers %s; want %s", got, tc.offers)
			}
			if last.Agreed != tc.agreed || last.Fault != nil || last.Next != nil {
				t.Errorf("%+v; want %s", last, tc.agreed)
			}
			if len(offers) > len(legacy())+2 {
				t.Errorf("%d offers", len(offers))
			}
		})
	}
}

// An operator may offer fewer versions than are understood.
func TestHandshakeOfFewOffers(t *testing.T) {
	few := legacy()[1:3]
	all := `"supported":["2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`
	refusal := says(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"","data":{` + all + `}}}`)
	for _, tc := range []conversation{
		{"newer client", "2025-11-25", []answer{refusal, refusal}, "2025-06-18 2025-03-26", ""},
		{"older client", "2024-11-05", []answer{refusal, refusal}, "2025-03-26 2025-06-18", ""},
		{"between", "2025-04-01", []answer{agrees("2025-03-26")}, "2025-03-26", "2025-03-26"},
		{"an answer not offered", "2025-06-18", []answer{agrees("2025-11-25")}, "2025-06-18", "2025-11-25"},
	} {
		offers, last := talk(t, negotiate.NewHandshake(tc.first, few, legacy()), tc.answers)
		if got := strings.Join(offers, " "); got != tc.offers || last.Agreed != tc.agreed {
			t.Errorf("%s: offers %s, %+v", tc.name, got, last)
		}
	}
}

// Matrix §6.2.3: what is no date ends the handshake, with an error that names
// the version the client asked for.
func TestHandshakeWithoutAVersion(t *testing.T) {
	want := `{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05","2025-03-26","2025-06-18","2025-11-25"],"requested":"2025-11-25"}}`
	for _, result := range []string{`{}`, `{"protocolVersion":"1.0"}`, `{"protocolVersion":""}`, `{"protocolVersion":null}`, `{"protocolVersion":20250618}`, `{"protocolVersion":"2025-06-18T00:00:00Z"}`, `[]`, `null`} {
		garbage := says(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`)
		for _, answers := range [][]answer{{garbage}, {refuses(400, "use 2025-03-26"), garbage}} {
			_, last := talk(t, negotiate.NewHandshake("2025-11-25", legacy(), legacy()), answers)
			if last.Fault == nil || last.Agreed != "" || last.Next != nil {
				t.Fatalf("%s: %+v", result, last)
			}
			if got := string(last.Fault.Object().Raw()); got != want {
				t.Errorf("%s after %d answers: %s", result, len(answers), got)
			}
		}
	}
}
