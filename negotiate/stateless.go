package negotiate

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Claims reports whether a message says of itself that it belongs to a
// stateless revision: it names its version in _meta.
func Claims(m *mcp.Message) bool { return m != nil && m.Meta() != nil && m.Meta().Has(mcp.MetaVersion) }

// IsStateless reports whether a version header names a stateless revision, or
// one that is newer than any.
func IsStateless(header string, stateless []mcp.Version) bool {
	v := mcp.Version(strings.TrimSpace(header))
	return len(stateless) > 0 && v.IsDate() && v >= stateless[0]
}

// Problem is why a stateless request is not served.
type Problem struct {
	mcp.Error
	Status int
}

func problem(status, code int, format string, args ...any) *Problem {
	return &Problem{Error: *mcp.Errorf(code, format, args...), Status: status}
}

// CheckStateless is the ladder by which a stateless request is validated; the
// first rung that fails decides. h are its headers, nil on a pipe, which has
// none. served lists the versions for which requests are served. basic "_meta"; basic/transports/streamable-http "Server
// Validation".
func CheckStateless(h http.Header, m *mcp.Message, served []mcp.Version) *Problem {
	for _, check := range []func(http.Header, *mcp.Message, []mcp.Version) *Problem{
		checkVersion, checkMeta, checkRouting, checkMethod, checkShape,
	} {
		if p := check(h, m, served); p != nil {
			return p
		}
	}
	return nil
}

func checkVersion(h http.Header, m *mcp.Message, served []mcp.Version) *Problem {
	claimed, _ := m.Meta().Get(mcp.MetaVersion)
	version, isText := claimed.Text()
	header := h.Values(mcp.HeaderVersion)
	switch {
	case !isText:
		return problem(http.StatusBadRequest, mcp.CodeInvalidParams, "_meta[%q] must be a string", mcp.MetaVersion)
	case h == nil:
	case len(header) != 1:
		return problem(http.StatusBadRequest, mcp.CodeHeaderMismatch, "the header MCP-Protocol-Version must be there once and say what _meta[%q] says", mcp.MetaVersion)
	case strings.TrimSpace(header[0]) != version:
		return problem(http.StatusBadRequest, mcp.CodeHeaderMismatch, "the header MCP-Protocol-Version and _meta[%q] differ", mcp.MetaVersion)
	}
	if !slices.Contains(served, mcp.Version(version)) {
		p := &Problem{Status: http.StatusBadRequest, Error: *Unsupported(mcp.Version(version), served)}
		p.Code = mcp.CodeBadVersion
		return p
	}
	return nil
}

func checkMeta(_ http.Header, m *mcp.Message, _ []mcp.Version) *Problem {
	meta := m.Meta()
	bad := func(key, want string) *Problem {
		return problem(http.StatusBadRequest, mcp.CodeInvalidParams, "_meta[%q] must be %s", key, want)
	}
	if v, _ := meta.Get(mcp.MetaCapabilities); !v.IsObject() {
		return bad(mcp.MetaCapabilities, "an object")
	}
	if meta.Has(mcp.MetaClientInfo) {
		info := meta.Object(mcp.MetaClientInfo)
		name, _ := info.Get("name")
		version, _ := info.Get("version")
		if !name.IsString() || !version.IsString() {
			return bad(mcp.MetaClientInfo, "an object with name and version")
		}
	}
	if meta.Has(mcp.MetaLogLevel) && !slices.Contains(LogLevels(), meta.Text(mcp.MetaLogLevel)) {
		return bad(mcp.MetaLogLevel, "one of "+strings.Join(LogLevels(), ", "))
	}
	if v, has := meta.Get("progressToken"); has {
		if _, ok := mcp.ParseID(v); !ok {
			return bad("progressToken", "a string or an integer")
		}
	}
	return nil
}

// LogLevels lists the log levels, the most verbose first (RFC 5424).
func LogLevels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

func checkRouting(h http.Header, m *mcp.Message, _ []mcp.Version) *Problem {
	if h == nil {
		return nil
	}
	method := h.Values(mcp.HeaderMethod)
	if len(method) != 1 || strings.TrimSpace(method[0]) != m.Method {
		return problem(http.StatusBadRequest, mcp.CodeHeaderMismatch, "the header %s must be there once and name the method of the body", mcp.HeaderMethod)
	}
	name, needed := m.RoutingName()
	if !needed {
		return nil
	}
	values := h.Values(mcp.HeaderName)
	if len(values) != 1 {
		return problem(http.StatusBadRequest, mcp.CodeHeaderMismatch, "the header %s must be there once", mcp.HeaderName)
	}
	if got, ok := mcp.DecodeHeader(strings.TrimSpace(values[0])); !ok || got != name {
		return problem(http.StatusBadRequest, mcp.CodeHeaderMismatch, "the header %s does not name what the body names", mcp.HeaderName)
	}
	return nil
}

// checkMethod refuses what only handshake revisions have. Methods nobody
// knows may be a vendor's.
func checkMethod(_ http.Header, m *mcp.Message, _ []mcp.Version) *Problem {
	switch m.Method {
	case mcp.Initialize, mcp.Ping, mcp.SetLevel, mcp.ResourcesSubscribe, mcp.ResourcesUnsubscribe,
		mcp.TasksList, mcp.TasksResult, mcp.CreateMessage, mcp.Elicit, mcp.RootsList:
		return problem(http.StatusNotFound, mcp.CodeMethodNotFound, "Method not found: %s is no request of this revision", m.Method)
	}
	return nil
}

func checkShape(_ http.Header, m *mcp.Message, _ []mcp.Version) *Problem {
	member, isObject := "", false
	switch m.Method {
	case mcp.ToolsCall, mcp.PromptsGet:
		member = "name"
	case mcp.ResourcesRead:
		member = "uri"
	case mcp.Listen:
		member, isObject = "notifications", true
	default:
		return nil
	}
	v, _ := m.Body.Get(member)
	if isObject && v.IsObject() || !isObject && v.IsString() {
		return nil
	}
	return problem(http.StatusBadRequest, mcp.CodeInvalidParams, "params.%s is missing or of the wrong type", member)
}
