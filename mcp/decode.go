package mcp

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// A Fault is why one JSON-RPC message cannot be taken. ID is set when the
// message's own id could still be read, so that an answer can name it.
type Fault struct {
	Error
	ID    ID
	Limit string // the key of the limit that it is above, or ""
}

// Frame is what one HTTP body, line or socket message held.
type Frame struct {
	Batch bool   // the sender wrote an array
	Items []Item // exactly one when Batch is false
}

// Item is one element of a frame: a message, or why it is none.
type Item struct {
	Message *Message
	Fault   *Fault
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Decode reads a frame. It validates every byte, so that later readers may
// look into bodies without checking again. A frame that is not JSON at all
// yields a fault, with the id where one could be read before the damage.
func Decode(b []byte) (*Frame, *Fault) { return DecodeWithin(b, MaxDepth) }

// DecodeWithin is Decode for a frame that is nested that many levels deep at
// most, those of its envelope among them; 0, or more than MaxDepth, is
// MaxDepth.
func DecodeWithin(b []byte, depth int) (*Frame, *Fault) {
	if depth <= 0 || depth > MaxDepth {
		depth = MaxDepth
	}
	b = bytes.TrimPrefix(b, byteOrderMark)
	raw, err := parseFrame(b, depth)
	if err != nil {
		return nil, unparsed(b, err, depth)
	}
	if !raw.IsArray() {
		return &Frame{Items: []Item{decodeItem(raw)}}, nil
	}
	f := &Frame{Batch: true}
	for i := space(raw, 1); raw[i] != ']'; {
		if len(f.Items) == MaxBatch {
			return nil, &Fault{Error: *Errorf(CodeInvalidRequest, "the batch has more than %d elements", MaxBatch), Limit: LimitBatch}
		}
		end := skip(raw, i)
		f.Items = append(f.Items, decodeItem(raw[i:end]))
		if i = space(raw, end); raw[i] == ',' {
			i = space(raw, i+1)
		}
	}
	return f, nil
}

func parseFrame(b []byte, depth int) (Raw, error) {
	if len(b) == 0 {
		return nil, errors.New("empty")
	}
	return parseWithin(b, depth)
}

// unparsed says why a frame could not be read. What is only nested too deep is
// a request all the same, whose sender waits for the answer: its id is looked
// for behind what is too deep, too.
func unparsed(b []byte, err error, depth int) *Fault {
	var bad *SyntaxError
	if !errors.As(err, &bad) || !bad.deep {
		return &Fault{Error: *Errorf(CodeParse, "the body is %v", err), ID: salvageID(b)}
	}
	f := &Fault{Error: *Errorf(CodeParse, "the message is nested deeper than %d levels, the limit %s", depth, LimitDepth), Limit: LimitDepth}
	whole, err := ParseRaw(b)
	switch {
	case err != nil:
		f.ID = salvageID(b)
	case whole.IsObject():
		if m := decodeItem(whole).Message; m != nil && m.Kind == Request {
			f.ID = m.ID
		}
	}
	return f
}

// DecodeMessage reads a frame that must hold a single message.
func DecodeMessage(b []byte) (*Message, error) {
	f, fault := Decode(b)
	switch {
	case fault != nil:
		return nil, &fault.Error
	case f.Batch:
		return nil, Errorf(CodeInvalidRequest, "a batch where one message was expected")
	case f.Items[0].Fault != nil:
		return nil, &f.Items[0].Fault.Error
	}
	return f.Items[0].Message, nil
}

// salvageID looks for a top-level id in a body that is no valid JSON, so that
// the answer can name the request. Only an id before the damage is found, and
// none where a second one, or a response, makes it unclear whose id it is.
func salvageID(b []byte) (found ID) {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return ID{}
	}
	for i = space(b, i+1); i < len(b) && b[i] == '"'; {
		keyEnd, err := validateString(b, i)
		colon := space(b, keyEnd)
		if err != nil || colon >= len(b) || b[colon] != ':' {
			return found
		}
		key := Raw(b[i:keyEnd])
		isID := key.Is("id")
		if key.Is("result") || key.Is("error") || isID && !found.IsZero() {
			return ID{}
		}
		start := space(b, colon+1)
		end, err := validate(b, start)
		if err != nil {
			return found
		}
		if isID && whole(b, start, end) {
			found, _ = ParseID(b[start:end])
		}
		if i = space(b, end); i >= len(b) || b[i] != ',' {
			return found
		}
		i = space(b, i+1)
	}
	return found
}

// whole reports whether the id in b[start:end] is all of what its sender
// wrote. A number at the end of the text may lack digits.
func whole(b []byte, start, end int) bool {
	if b[start] == '"' {
		return utf8.Valid(b[start:end])
	}
	return end < len(b) && bytes.IndexByte([]byte(",} \n\t\r"), b[end]) >= 0
}

// envelope is the outermost object of a message, its members by exact name.
type envelope struct {
	jsonrpc, id, method, params, result, failure Raw
	duplicate                                    string
}

// openEnvelope looks for the members of a message. Others are passed over:
// they belong to no message, and however many there are they cost nothing.
func openEnvelope(raw Raw) envelope {
	var e envelope
	eachMember(raw, func(key, val Raw) bool {
		slot, name := e.slot(key)
		if slot == nil {
			return true
		}
		if *slot != nil && e.duplicate != "id" {
			e.duplicate = name
		}
		*slot = val
		return true
	})
	return e
}

// slot returns where the value of a member belongs; nil for an unknown one.
func (e *envelope) slot(key Raw) (*Raw, string) {
	switch {
	case key.Is("jsonrpc"):
		return &e.jsonrpc, "jsonrpc"
	case key.Is("id"):
		return &e.id, "id"
	case key.Is("method"):
		return &e.method, "method"
	case key.Is("params"):
		return &e.params, "params"
	case key.Is("result"):
		return &e.result, "result"
	case key.Is("error"):
		return &e.failure, "error"
	}
	return nil, ""
}

func decodeItem(raw Raw) Item {
	if !raw.IsObject() {
		return Item{Fault: &Fault{Error: *Errorf(CodeInvalidRequest, "a message must be a JSON object")}}
	}
	e := openEnvelope(raw)
	m, problem := e.message()
	if problem == "" {
		return Item{Message: m}
	}
	f := &Fault{Error: *Errorf(CodeInvalidRequest, "%s", problem)}
	if e.duplicate != "id" && !e.answers() {
		f.ID, _ = ParseID(e.id)
	}
	return Item{Fault: f}
}

// answers reports whether the message was to be a response. Its id is then a
// request of the other side, which an answer to it must not name.
func (e envelope) answers() bool {
	return e.method == nil && (e.result != nil || e.failure != nil)
}

// message checks the envelope and returns the message, or what is wrong.
func (e envelope) message() (*Message, string) {
	switch {
	case e.duplicate != "":
		return nil, "the member " + e.duplicate + " occurs twice"
	case !e.jsonrpc.Is("2.0"):
		return nil, `the member jsonrpc must be "2.0"`
	case e.method != nil && (e.result != nil || e.failure != nil):
		return nil, "a message cannot be both a request and a response"
	case e.method != nil:
		return e.call()
	case e.result != nil && e.failure != nil:
		return nil, "a response cannot have both a result and an error"
	case e.result != nil || e.failure != nil:
		return e.response()
	}
	return nil, "the message has neither a method nor a result nor an error"
}

func (e envelope) call() (*Message, string) {
	m := &Message{Kind: Notification}
	var ok bool
	if m.Method, ok = e.method.Text(); !ok || m.Method == "" {
		return nil, "the member method must be a string"
	}
	if e.id != nil {
		m.Kind = Request
		if m.ID, ok = ParseID(e.id); !ok {
			return nil, "the id must be a string or an integer"
		}
	}
	// An empty array is how some languages write an empty object.
	if e.params == nil || e.params.IsNull() || e.params.IsArray() && string(e.params.Compact()) == "[]" {
		return m, ""
	}
	if m.Body, ok = ParseObject(e.params); !ok {
		return nil, "the member params must be an object"
	}
	if crowded(e.params) {
		return nil, "the member params has too many members"
	}
	if name := m.Body.Duplicate(); name != "" {
		return nil, "the member params." + name + " occurs twice"
	}
	if v, has := m.Body.Get("_meta"); has && v.IsObject() && crowded(v) {
		return nil, "the member params._meta has too many members"
	}
	if name := m.Meta().Duplicate(); name != "" {
		return nil, "the member params._meta." + name + " occurs twice"
	}
	return m, ""
}

func (e envelope) response() (*Message, string) {
	m := &Message{Kind: Result}
	body := e.result
	if e.failure != nil {
		m.Kind, body = Failure, e.failure
	}
	var ok bool
	if m.ID, ok = ParseID(e.id); !ok && !(m.Kind == Failure && (e.id == nil || e.id.IsNull())) {
		return nil, "the id of a response must be a string or an integer"
	}
	if m.Body, ok = ParseObject(body); ok {
		return m, ""
	}
	if m.Kind == Failure {
		return nil, "the member error must be an object"
	}
	// Some servers answer ping with [] or null: an empty result is what they mean.
	if c := string(body.Compact()); c == "[]" || c == "null" {
		m.Body = NewObject()
		return m, ""
	}
	return nil, "the member result must be an object"
}
