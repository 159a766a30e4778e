package negotiate

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Era says how conversations with a server go: by handshake, or with every
// request standing for itself.
type Era string

// The eras.
const (
	Unknown   Era = ""
	Legacy    Era = "legacy"
	Stateless Era = "modern"
)

// Finding is what an answer says about a server's era.
type Finding struct {
	Era     Era
	Version mcp.Version // the stateless version to speak
	Again   mcp.Version // ask again, in this version
	Try     bool        // nothing is known yet: a handshake will tell
}

// evidence is one row of the decision table: what it matches and what follows.
type evidence struct {
	name  string
	holds func(d *discovery) bool
	means func(d *discovery) Finding
}

// discovery is an answer to server/discover, whatever its form.
type discovery struct {
	sent              mcp.Version
	stateless, legacy []mcp.Version // that the bridge speaks
	result            *mcp.Object   // nil for an error or no JSON-RPC
	code              int           // of an error
	supported         []mcp.Version // that the server lists
	listed            bool
	status            int // of an answer that is no JSON-RPC, else 0
}

func (d *discovery) common(with []mcp.Version) mcp.Version {
	var found mcp.Version
	for _, v := range d.supported {
		if slices.Contains(with, v) && v > found {
			found = v
		}
	}
	return found
}

// table decides by the first row that holds; era detection is data.
func table() []evidence {
	legacy := func(*discovery) Finding { return Finding{Era: Legacy} }
	stateless := func(d *discovery) Finding { return Finding{Era: Stateless, Version: d.sent} }
	try := func(*discovery) Finding { return Finding{Try: true} }
	none := func(*discovery) Finding { return Finding{} }
	return []evidence{
		{"must authenticate, or is busy", func(d *discovery) bool {
			return slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, d.status)
		}, none},
		{"a common stateless version",
			func(d *discovery) bool { return d.result != nil && d.common(d.stateless) != "" },
			func(d *discovery) Finding { return Finding{Era: Stateless, Version: d.common(d.stateless)} }},
		{"only handshake versions", func(d *discovery) bool { return d.result != nil && d.common(d.legacy) != "" }, legacy},
		{"a result that lists nothing", func(d *discovery) bool { return d.result != nil && !d.listed }, try},
		{"only unknown versions", func(d *discovery) bool { return d.result != nil }, none},
		{"refused, another stateless version listed",
			func(d *discovery) bool {
				return d.code == mcp.CodeBadVersion && d.common(d.stateless) != "" && d.common(d.stateless) != d.sent
			},
			func(d *discovery) Finding { return Finding{Again: d.common(d.stateless)} }},
		{"refused, handshake versions listed", func(d *discovery) bool { return d.code == mcp.CodeBadVersion && d.common(d.legacy) != "" }, legacy},
		{"refused without a way out", func(d *discovery) bool { return d.code == mcp.CodeBadVersion }, none},
		{"headers or capabilities matter", func(d *discovery) bool {
			return d.code == mcp.CodeHeaderMismatch || d.code == mcp.CodeNeedsCapability
		}, stateless},
		{"anything else with an answer", func(*discovery) bool { return true }, try},
	}
}

// Discovered judges the answer to a server/discover: a message, or an HTTP
// answer that is none. sent is the version that it was stamped with.
func Discovered(answer *mcp.Message, refusal *mcp.Refusal, sent mcp.Version, stateless, legacy []mcp.Version) Finding {
	d := &discovery{sent: sent, stateless: stateless, legacy: legacy}
	switch {
	case answer != nil && answer.Kind == mcp.Result:
		d.result = answer.Body
		d.list(answer.Body.Array("supportedVersions"))
	case answer != nil:
		d.code = answer.Code()
		d.list(answer.Body.Object("data").Array("supported"))
	case refusal != nil:
		d.status = refusal.Status
		d.refused(refusal)
	}
	for _, row := range table() {
		if row.holds(d) {
			return row.means(d)
		}
	}
	return Finding{Try: true}
}

func (d *discovery) list(versions *mcp.Array) {
	d.listed = versions != nil
	for i := range min(versions.Len(), 64) {
		v, _ := versions.At(i).Text()
		d.supported = append(d.supported, mcp.Version(v))
	}
}

// refused reads an error whose id the server did not echo.
func (d *discovery) refused(r *mcp.Refusal) {
	if m, err := mcp.DecodeMessage(bytes.TrimSpace(r.Body)); err == nil && m.Kind == mcp.Failure {
		d.code = m.Code()
		d.list(m.Body.Object("data").Array("supported"))
	}
}

// SpeaksStateless reports whether the refusal of a handshake is that of a
// server that has none.
func SpeaksStateless(answer *mcp.Message, refusal *mcp.Refusal) bool {
	if refusal != nil {
		answer, _ = mcp.DecodeMessage(bytes.TrimSpace(refusal.Body))
	}
	if answer == nil || answer.Kind != mcp.Failure {
		return false
	}
	switch answer.Code() {
	case mcp.CodeBadVersion, mcp.CodeHeaderMismatch, mcp.CodeMethodNotFound:
		return true
	case mcp.CodeInvalidParams:
		return bytes.Contains([]byte(answer.Body.Text("message")), []byte("_meta"))
	}
	return false
}
