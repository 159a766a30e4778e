package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// checkExchanges looks at ids, tool results and errors, on any transport, and
// returns how many tools it called.
func checkExchanges(t *testing.T, structured bool, ask func(id, body string) rawMessage) int {
	t.Helper()
	for _, id := range oddIDs {
		answer := ask(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id))
		if answer.Error != nil || string(answer.Result) != "{}" {
			t.Errorf("ping %s: %s %+v", id, answer.Result, answer.Error)
		}
	}
	result, err := ask(`"s"`, call(`"s"`, "structured", "{}")).tool()
	// The text of structured content is its JSON as the server wrote it.
	if err != nil || result.IsError || len(result.Content) != 1 || result.text() != `{"answer":42,"label":"x"}` {
		t.Errorf("structured: %+v, %v; want its JSON as the only text", result, err)
	}
	answer := ask(`"s2"`, call(`"s2"`, "structured", "{}"))
	if has := strings.Contains(string(answer.Result), `"structuredContent":{"answer":42,"label":"x"}`); has != structured {
		t.Errorf("structuredContent there: %t, want %t: %s", has, structured, answer.Result)
	}
	big := `{"digits":"9007199254740993","n":9007199254740991}`
	result, err = ask("3", call("3", "bigint", big)).tool()
	if err != nil || result.text() != "digits=9007199254740993 n=9007199254740991" {
		t.Errorf("bigint: %+v, %v", result, err)
	}
	if answer := ask("4", `{"jsonrpc":"2.0","id":4,"method":"demo/unknown"}`); answer.Error == nil || answer.Error.Code != -32601 {
		t.Errorf("unknown method: %s %+v, want error -32601", answer.Result, answer.Error)
	}
	return 3
}

// checkBatches: every handshake client may send batches; each request is
// answered once, in the form that the client reads.
func checkBatches(t *testing.T, c *rawClient) int {
	t.Helper()
	batch := "[" + strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, initialized, call(`"1"`, "echo", `{"value":"one"}`),
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"demo/unknown"}`, call("2", "echo", `{"value":"two"}`),
	}, ",") + "]"
	for _, accept := range []string{acceptBoth, "application/json"} {
		reply := c.send("POST", batch, "Accept", accept)
		if reply.status != http.StatusOK || len(reply.messages) != 4 {
			t.Fatalf("batch: status %d, %d answers: %s", reply.status, len(reply.messages), reply.body)
		}
		if events := accept == acceptBoth; reply.array == events {
			t.Errorf("batch: an array: %t, for a client that accepts %s", reply.array, accept)
		}
		checkBatchAnswers(t, reply)
	}
	if reply := c.post("[" + initialized + "," + initialized + "]"); reply.status != http.StatusAccepted || len(reply.body) != 0 {
		t.Errorf("batch of notifications: status %d, body %q; want 202 and none", reply.status, reply.body)
	}
	for _, bad := range []string{"[]", "[" + ping + "," + ping + "]", "[" + initialize("1", "2025-03-26", "x") + "]"} {
		reply := c.post(bad)
		if reply.status != http.StatusBadRequest || len(reply.messages) != 1 || reply.messages[0].Error == nil ||
			reply.messages[0].Error.Code != -32600 {
			t.Errorf("%s: status %d, body %s; want 400 and error -32600", bad, reply.status, reply.body)
		}
	}
	return 4
}

func checkBatchAnswers(t *testing.T, reply rawReply) {
	t.Helper()
	for id, want := range map[string]string{`"1"`: "echo one", "2": "echo two"} {
		answer, err := reply.answer(id)
		if err != nil {
			t.Fatal(err)
		}
		if result, err := answer.tool(); err != nil || result.text() != want {
			t.Errorf("batch, %s: %+v, %v; want %q", id, result, err, want)
		}
	}
	if answer, err := reply.answer("1"); err != nil || string(answer.Result) != "{}" {
		t.Errorf("batch, ping: %+v, %v", answer, err)
	}
	if answer, err := reply.answer("9007199254740993"); err != nil || answer.Error == nil || answer.Error.Code != -32601 {
		t.Errorf("batch, unknown method: %+v, %v; want error -32601", answer, err)
	}
}

// visitOverSSE opens an event stream and posts to the address that it names.
func visitOverSSE(t *testing.T, address, name string, structured bool) int {
	ctx, cancel := context.WithTimeout(t.Context(), 2*rawLimit)
	defer cancel()
	endpoint, messages := openSSE(ctx, t, address)
	c := &rawClient{t: t, url: endpoint}
	post := func(body string) {
		// The transport promises no more of the answer than that the message is taken.
		if reply := c.send("POST", body, "Accept", ""); reply.status != http.StatusAccepted {
			t.Errorf("%s: status %d, body %s; want 202", body, reply.status, reply.body)
		}
	}
	ask := func(id, body string) rawMessage {
		post(body)
		select {
		case m := <-messages:
			if string(m.ID) != id {
				t.Errorf("%s: the answer has the id %s", body, m.ID)
			}
			return m
		case <-ctx.Done():
			t.Fatalf("no answer to %s", body)
			return rawMessage{}
		}
	}
	answer := ask(`"first one"`, initialize(`"first one"`, "2024-11-05", name))
	if !strings.Contains(string(answer.Result), `"protocolVersion":"2024-11-05"`) {
		t.Fatalf("initialize: %s %+v", answer.Result, answer.Error)
	}
	post(initialized)
	calls := checkExchanges(t, structured, ask)
	post("[" + ping + "," + call("5", "echo", `{"value":"one"}`) + "]")
	ids := []string{string((<-messages).ID), string((<-messages).ID)}
	if slices.Sort(ids); !slices.Equal(ids, []string{`"p"`, "5"}) {
		t.Errorf("batch: answers to %v", ids)
	}
	c.url = endpoint[:len(endpoint)-8] + "00000000"
	checkGone(t, "unknown session", c.send("POST", ping, "Accept", ""))
	return calls + 1
}

// openSSE returns where to post and what comes on the stream, which stays open
// until ctx ends.
func openSSE(ctx context.Context, t *testing.T, address string) (string, <-chan rawMessage) {
	t.Helper()
	reader := &rawClient{t: t, url: address}
	response, err := reader.open(ctx, "GET", "", "Accept", "text/event-stream", "Content-Type", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if media := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || !strings.HasPrefix(media, "text/event-stream") {
		t.Fatalf("event stream: status %d, type %s", response.StatusCode, media)
	}
	named, messages := make(chan string, 1), make(chan rawMessage, 16)
	go follow(response.Body, named, messages)
	select {
	case name := <-named:
		base, _ := url.Parse(address)
		endpoint, err := base.Parse(name)
		if err != nil || endpoint.Host != base.Host {
			t.Fatalf("endpoint %q: %v", name, err)
		}
		return endpoint.String(), messages
	case <-ctx.Done():
		t.Fatal("the event stream named no endpoint")
		return "", nil
	}
}

// follow ends with the stream, whose end closes the messages.
func follow(stream io.Reader, named chan<- string, messages chan<- rawMessage) {
	defer close(messages)
	_ = eachEvent(stream, func(name, data string) error {
		if name == "endpoint" {
			select {
			case named <- data:
				return nil
			default:
				return errors.New("the stream names a second endpoint")
			}
		}
		var one rawReply
		err := one.add(data)
		for _, m := range one.messages {
			messages <- m
		}
		return err
	})
}
