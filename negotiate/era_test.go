package negotiate_test

import (
	"errors"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// sent is the version that the probes of these tests are stamped with.
const sent mcp.Version = "2026-07-28"

// stateless returns the revisions without a handshake, oldest first: the one
// there is, and one that is yet to come.
func stateless() []mcp.Version { return []mcp.Version{sent, "2027-03-01"} }

// heard is how an answer of a server reaches the plans: as a message, or as an
// HTTP answer that is none of the request.
func heard(t testing.TB, status int, text string) (*mcp.Message, *mcp.Refusal) {
	t.Helper()
	if status != 0 {
		return nil, &mcp.Refusal{Status: status, Body: []byte(text)}
	}
	if text == "" {
		return nil, nil
	}
	return decode(t, text), nil
}

func result(text string) string { return `{"jsonrpc":"2.0","id":1,"result":` + text + `}` }

func failure(text string) string { return `{"jsonrpc":"2.0","id":1,"error":` + text + `}` }

// idless is an error as servers send it that did not read the request.
func idless(text string) string { return `{"jsonrpc":"2.0","id":null,"error":` + text + `}` }

// evidence is an answer to a server/discover. The status is 0 for what comes
// as the answer to the request, whatever its HTTP status was.
type evidence struct {
	name   string
	status int
	text   string
	want   negotiate.Finding
}

// discovered lists the rows of the decision tree, in its order, and what
// servers in the field were seen to answer.
func discovered() []evidence {
	modern := negotiate.Finding{Era: negotiate.Stateless, Version: sent}
	newest := negotiate.Finding{Era: negotiate.Stateless, Version: "2027-03-01"}
	older := negotiate.Finding{Era: negotiate.Legacy}
	again := negotiate.Finding{Again: "2027-03-01"}
	try := negotiate.Finding{Try: true}
	none := negotiate.Finding{}
	return []evidence{
		{"1a one version", 0, result(`{"supportedVersions":["2026-07-28"]}`), modern},
		{"1a the newest common one", 0, result(`{"supportedVersions":["2025-11-25","2027-03-01","2026-07-28"]}`), newest},
		{"1a common and unknown", 0, result(`{"supportedVersions":["2030-01-01","2026-07-28"]}`), modern},
		{"1a Go, stateless", 0, result(`{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18"]}`), modern},
		{"1a odd elements", 0, result(`{"supportedVersions":[1,null,{},"2026-07-28"]}`), modern},
		{"1b Go, stateful", 0, result(`{"supportedVersions":["2025-11-25","2025-06-18","2025-03-26","2024-11-05"]}`), older},
		{"1b unknown and older", 0, result(`{"supportedVersions":["2030-01-01","2025-11-25"]}`), older},
		{"1c unknown", 0, result(`{"supportedVersions":["2030-01-01"]}`), none},
		{"1c nothing", 0, result(`{"supportedVersions":[]}`), none},
		{"1d no list", 0, result(`{}`), try},
		{"1d another type", 0, result(`{"supportedVersions":"2026-07-28"}`), try},
		{"2a another version", 0, failure(`{"code":-32022,"message":"m","data":{"supported":["2027-03-01","2025-11-25"],"requested":"2026-07-28"}}`), again},
		{"2a, id null", 400, idless(`{"code":-32022,"message":"m","data":{"supported":["2027-03-01"]}}`), again},
		{"2b (G-69)", 0, failure(`{"code":-32022,"message":"m","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}`), older},
		{"2b, id null", 400, idless(`{"code":-32022,"message":"m","data":{"supported":["2025-11-25"]}}`), older},
		{"2b the refused one and older", 0, failure(`{"code":-32022,"message":"m","data":{"supported":["2026-07-28","2025-11-25"]}}`), older},
		{"2c the refused one (G-70)", 0, failure(`{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}`), none},
		{"2c unknown", 0, failure(`{"code":-32022,"message":"m","data":{"supported":["2030-01-01"]}}`), none},
		{"2c no data", 0, failure(`{"code":-32022,"message":"m"}`), none},
		{"3 headers", 0, failure(`{"code":-32020,"message":"m"}`), modern},
		{"3 headers, id null", 400, idless(`{"code":-32020,"message":"m"}`), modern},
		{"4 capability", 0, failure(`{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}}`), modern},
		{"5 401", 401, ``, none},
		{"5 403", 403, idless(`{"code":-32000,"message":"Forbidden"}`), none},
		{"5 401 with a code", 401, idless(`{"code":-32020,"message":"m"}`), none},
		{"6 503 with a code", 503, idless(`{"code":-32022,"message":"m","data":{"supported":["2025-11-25"]}}`), none},
		{"6 429", 429, ``, none},
		{"6 502", 502, `<html>`, none},
		{"6 503", 503, ``, none},
		{"6 504", 504, ``, none},
		{"7 500", 500, ``, try},
		{"7 501", 501, `Not Implemented`, try},
		{"8 -32601", 0, failure(`{"code":-32601,"message":"Method not found"}`), try},
		{"8 -32600", 0, failure(`{"code":-32600,"message":"Missing ID field"}`), try},
		{"8 -32602", 0, failure(`{"code":-32602,"message":"Invalid request parameters"}`), try},
		{"8 code 0", 0, failure(`{"code":0,"message":"m"}`), try},
		{"8 no session yet (G-73)", 400, idless(`{"code":-32000,"message":"Bad Request: Server not initialized"}`), try},
		{"8 version in the text", 400, idless(`{"code":-32000,"message":"Bad Request: Unsupported protocol version: 2026-07-28 (supported versions: 2025-11-25)"}`), try},
		{"8 400", 400, `Bad Request`, try},
		{"8 404", 404, `Cannot POST /mcp`, try},
		{"8 405", 405, ``, try},
		{"8 406", 406, idless(`{"code":-32000,"message":"Not Acceptable"}`), try},
		{"8 409", 409, ``, try},
		{"8 410", 410, ``, try},
		{"8 415", 415, ``, try},
		{"8 422", 422, `{"detail":[]}`, try},
		{"8 a page", 200, `<html>Welcome</html>`, try},
		{"8 nothing", 0, ``, try},
		{"8 another JSON", 200, `{"supportedVersions":["2026-07-28"]}`, try},
		{"8 a list of errors", 400, `[` + idless(`{"code":-32020,"message":"m"}`) + `]`, try},
	}
}

// What an answer to a probe says is the decision tree's to tell, row by row
// (G-68).
func TestDiscovered(t *testing.T) {
	for _, c := range discovered() {
		t.Run(c.name, func(t *testing.T) {
			answer, refusal := heard(t, c.status, c.text)
			if got := negotiate.Discovered(answer, refusal, sent, stateless(), legacy()); got != c.want {
				t.Errorf("found %+v, want %+v", got, c.want)
			}
		})
	}
}

// A bridge that does not serve a version does not choose it.
func TestDiscoveredAmongWhatIsSpoken(t *testing.T) {
	answer := decode(t, result(`{"supportedVersions":["2027-03-01","2025-11-25"]}`))
	got := negotiate.Discovered(answer, nil, sent, []mcp.Version{sent}, legacy())
	if want := (negotiate.Finding{Era: negotiate.Legacy}); got != want {
		t.Errorf("found %+v, want %+v", got, want)
	}
	got = negotiate.Discovered(answer, nil, sent, []mcp.Version{sent}, []mcp.Version{"2024-11-05"})
	if want := (negotiate.Finding{}); got != want {
		t.Errorf("found %+v, want %+v", got, want)
	}
}

// A list of versions may be of any length; only its beginning counts.
func TestDiscoveredLongList(t *testing.T) {
	list := ``
	for range 10000 {
		list += `"2030-01-01",`
	}
	answer := decode(t, result(`{"supportedVersions":[`+list+`"2026-07-28"]}`))
	if got := negotiate.Discovered(answer, nil, sent, stateless(), legacy()); got != (negotiate.Finding{}) {
		t.Errorf("found %+v", got)
	}
}

// Whether the refusal of a handshake is that of a server without one: rule 8,
// "reverse fallback".
func TestSpeaksStateless(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		text   string
		want   bool
	}{
		{"version", 0, failure(`{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}`), true},
		{"version, id null", 400, idless(`{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}`), true},
		{"headers", 0, failure(`{"code":-32020,"message":"m"}`), true},
		{"no such method", 0, failure(`{"code":-32601,"message":"m"}`), true},
		{"no such method, no id", 404, `{"jsonrpc":"2.0","error":{"code":-32601,"message":"m"}}` + "\n", true},
		{"_meta is missing", 0, failure(`{"code":-32602,"message":"params._meta is required"}`), true},
		{"other parameters", 0, failure(`{"code":-32602,"message":"Unsupported protocol version"}`), false},
		{"already initialized", 0, failure(`{"code":-32600,"message":"Server already initialized"}`), false},
		{"no session", 400, idless(`{"code":-32000,"message":"No valid session ID provided"}`), false},
		{"a page", 404, `<html>_meta -32601</html>`, false},
		{"empty", 405, ``, false},
		{"nothing", 0, ``, false},
		{"a result", 0, result(`{"protocolVersion":"2025-11-25"}`), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, refusal := heard(t, c.status, c.text)
			if got := negotiate.SpeaksStateless(answer, refusal); got != c.want {
				t.Errorf("it is %v", got)
			}
		})
	}
}

// FuzzDiscovered: nothing panics, and a finding says one thing.
func FuzzDiscovered(f *testing.F) {
	for _, c := range discovered() {
		f.Add(c.status, []byte(c.text))
	}
	f.Fuzz(func(t *testing.T, status int, text []byte) {
		refusal := &mcp.Refusal{Status: status, Body: text}
		findings := []negotiate.Finding{negotiate.Discovered(nil, refusal, sent, stateless(), legacy())}
		if m, err := mcp.DecodeMessage(text); err == nil && m.IsAnswer() {
			findings = append(findings, negotiate.Discovered(m, nil, sent, stateless(), legacy()))
			negotiate.SpeaksStateless(m, nil)
		}
		negotiate.SpeaksStateless(nil, refusal)
		for _, found := range findings {
			if err := consistent(found); err != nil {
				t.Errorf("%d %q: %+v: %v", status, text, found, err)
			}
		}
	})
}

func consistent(f negotiate.Finding) error {
	switch {
	case (f.Era == negotiate.Stateless) != (f.Version != ""):
		return errors.New("a stateless server has a version, and no other")
	case f.Again == sent:
		return errors.New("the same question would get the same answer")
	case f.Try && f != negotiate.Finding{Try: true}, f.Again != "" && f != negotiate.Finding{Again: f.Again}:
		return errors.New("it says two things")
	}
	return nil
}
