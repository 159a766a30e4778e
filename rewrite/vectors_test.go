package rewrite_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// vectors are the protocol's published test vectors, which lie beside the
// checkout. They say what a message must become between two versions.
const vectors = "../../shared/protocol/legacy-vectors.json"

type vector struct {
	ID, Title, Dir, Pending string
	Vc, Vs                  mcp.Version
	In, Out                 json.RawMessage
	InRaw                   string `json:"in_raw"`
	OutRaw                  string `json:"out_raw"`
}

// elsewhere lists the vectors that do not speak of one message through the
// ladder, and those that a decision supersedes; other tests hold them.
func elsewhere() map[string]string {
	return map[string]string{
		"T07": "superseded: text is added at equal versions too",
		"T32": "superseded: a multi-select counts as an undeclared capability",
		"T33": "superseded: a multi-select counts as an undeclared capability",
		"T45": "a conversation", "T46": "a conversation",
		"T48": "the streams drop it", "T49": "the envelope", "T50": "the envelope",
		"T51": "ids", "T52": "ids", "T53": "ids", "T57": "stdio", "T58": "the envelope",
		"T59": "batches", "T60": "batches", "T61": "batches", "T62": "batches", "T63": "batches",
		"T64": "batches", "T65": "batches", "T66": "batches", "T67": "batches", "T68": "batches",
		"T69": "HTTP", "T70": "streams that are taken up again", "T71": "SSE", "T74": "HTTP",
		"T73": "where to log in",
	}
}

func TestVectors(t *testing.T) {
	data, err := os.ReadFile(vectors)
	if os.IsNotExist(err) {
		t.Skipf("the published vectors are not beside the checkout (%s)", vectors)
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		t.Run(v.ID, func(t *testing.T) {
			if why := elsewhere()[v.ID]; why != "" {
				t.Skip(why)
			}
			got, want := v.play(t)
			if !same(got, want) {
				t.Errorf("%s\ngot  %s\nwant %s", v.Title, got, want)
			}
		})
	}
}

// play sends the vector's message and returns what came out: the message at
// the other end, or what its sender got back, or "$drop".
func (v vector) play(t *testing.T) (got, want string) {
	t.Helper()
	in, want := string(v.In), string(v.Out)
	if v.InRaw != "" {
		in = v.InRaw
	}
	if v.OutRaw != "" {
		want = v.OutRaw
	}
	m, err := mcp.DecodeMessage([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if m.IsAnswer() {
		m.Method = v.Pending
	}
	if m.Method != mcp.Cancelled { // the door knows what a cancellation is about
		m.Call = 1
	}
	to := mcp.Client
	if v.Dir == "C2S" {
		to = mcp.Server
	}
	out := v.pipeline().Send(m, to, time.Time{})
	if len(out.Actions) > 0 {
		a := out.Actions[0]
		if a.To == to {
			if m.Method == mcp.Initialize { // the handshake names the version
				agreed := map[mcp.Side]mcp.Version{mcp.Client: v.Vc, mcp.Server: v.Vs}[to]
				a.Msg.Body.Set("protocolVersion", mcp.Quote(string(agreed)))
			}
			return string(a.Msg.Bytes()), want
		}
		return `{"$to_sender":` + string(a.Msg.Bytes()) + `,"$forward":null}`, want
	}
	return `{"$drop":true}`, want
}

func (v vector) pipeline() *rewrite.Pipeline {
	options := mcp.DefaultOptions()
	options.Strict, options.InjectText = true, mcp.InjectUnlessEquivalent
	options.Fallback.Action = mcp.FallbackError
	f := rewrite.Facing{
		Client:  mcp.Peer{Version: v.Vc, Capabilities: mcp.MustObject(`{"elicitation":{},"sampling":{},"roots":{}}`)},
		Server:  mcp.Peer{Version: v.Vs, Capabilities: mcp.MustObject(`{"tools":{},"resources":{},"prompts":{}}`)},
		Options: options,
	}
	key := mcp.CallKey(100)
	return rewrite.Standard().Pipeline(f, rewrite.Deps{}, func() mcp.CallKey { key++; return key })
}

// same compares JSON texts; a wanted string in angle brackets matches anything.
func same(got, want string) bool {
	var g, w any
	return decode(got, &g) && decode(want, &w) && sameValue(g, w)
}

func decode(text string, v *any) bool {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(v) == nil
}

func sameValue(got, want any) bool {
	switch w := want.(type) {
	case string:
		return strings.HasPrefix(w, "<") && strings.HasSuffix(w, ">") || got == want
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for name, v := range w {
			if gv, has := g[name]; !has || !sameValue(gv, v) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !sameValue(g[i], w[i]) {
				return false
			}
		}
		return true
	}
	return got == want
}
