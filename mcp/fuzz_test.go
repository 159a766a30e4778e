package mcp_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// FuzzDecode: nothing panics; what decodes means what encoding/json reads,
// and what is written of it decodes to the same again.
func FuzzDecode(f *testing.F) {
	for _, tc := range append(takenCalls(), takenAnswers()...) {
		f.Add([]byte(tc.text))
		f.Add([]byte("[" + tc.text + `,1,` + tc.text + "]"))
	}
	for _, tc := range append(append(refusedEnvelopes(), refusedAnswers()...), append(refusedDuplicates(), unreadable()...)...) {
		f.Add([]byte(tc.text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		frame, fault := mcp.Decode(b)
		if !bytes.Equal(b, before) {
			t.Fatal("the received bytes are changed")
		}
		text := bytes.TrimPrefix(b, []byte("\ufeff"))
		if fault != nil {
			checkFault(t, text, frame, fault)
			return
		}
		elements := []json.RawMessage{text}
		if frame.Batch {
			elements = nil
			if err := json.Unmarshal(text, &elements); err != nil {
				t.Fatal(err)
			}
		}
		if len(frame.Items) != len(elements) {
			t.Fatalf("%d items of %d elements", len(frame.Items), len(elements))
		}
		for i, item := range frame.Items {
			checkItem(t, item, elements[i])
		}
	})
}

// checkFault looks at the fault of a whole frame.
func checkFault(t *testing.T, text []byte, frame *mcp.Frame, fault *mcp.Fault) {
	t.Helper()
	if frame != nil || json.Valid(text) && utf8.Valid(text) && depth(text) <= deepest && len(text) < 20000 {
		t.Fatalf("%+v, %v", frame, fault)
	}
	if id := fault.ID; !id.IsZero() {
		if again, ok := mcp.ParseID(raw(t, id.String())); !ok || again != id || !bytes.Contains(text, id.Raw()) {
			t.Fatalf("the id %s is not in the text", id)
		}
	}
}

func checkItem(t *testing.T, item mcp.Item, element json.RawMessage) {
	t.Helper()
	if (item.Message == nil) == (item.Fault == nil) {
		t.Fatalf("%+v", item)
	}
	if item.Message == nil {
		if item.Fault.Code != mcp.CodeInvalidRequest || !item.Fault.ID.IsZero() && !bytes.Contains(element, item.Fault.ID.Raw()) {
			t.Fatalf("%+v", item.Fault)
		}
		return
	}
	checkMeaning(t, item.Message, element)
	checkAgain(t, item.Message)
}

// checkMeaning compares a message with what encoding/json reads.
func checkMeaning(t *testing.T, m *mcp.Message, element json.RawMessage) {
	t.Helper()
	var e map[string]json.RawMessage
	if err := json.Unmarshal(element, &e); err != nil {
		t.Fatal(err)
	}
	var version, method string
	_ = json.Unmarshal(e["jsonrpc"], &version)
	_ = json.Unmarshal(e["method"], &method)
	if version != "2.0" || method != m.Method {
		t.Fatalf("%s is taken for %s", element, m)
	}
	if id := string(e["id"]); m.ID.String() != id && (m.Kind != mcp.Failure || id != "null") {
		t.Fatalf("%s has the id %q", element, id)
	}
	body := e[map[mcp.Kind]string{mcp.Request: "params", mcp.Notification: "params", mcp.Result: "result", mcp.Failure: "error"}[m.Kind]]
	if len(body) > 0 && body[0] == '{' && (m.Body == nil || string(m.Body.Raw()) != string(body)) {
		t.Fatalf("the body of %s is %s", element, m.Body.Raw())
	}
	_, hasID := e["id"]
	if m.Kind == mcp.Request && m.ID.IsZero() || m.Kind == mcp.Notification && hasID || m.Kind == mcp.Result && m.ID.IsZero() {
		t.Fatalf("%s is taken for a %s", element, m.Kind)
	}
}

// checkAgain writes a message and reads it again.
func checkAgain(t *testing.T, m *mcp.Message) {
	t.Helper()
	b := m.Bytes()
	var e map[string]json.RawMessage
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	if id, ok := e["id"]; ok == m.ID.IsZero() || string(id) == "null" {
		t.Fatalf("the id %q is written as %s", m.ID, b)
	}
	again, err := mcp.DecodeMessage(b)
	if err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	if again.Kind != m.Kind || again.ID != m.ID || again.Method != m.Method || (again.Body == nil) != (m.Body == nil) || string(again.Body.Raw()) != string(m.Body.Raw()) {
		t.Fatalf("%s is read again as %s", b, again.Bytes())
	}
}
