package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// demoCounts are the series of a metrics page, in its order.
type demoCounts []demoSeries

// demoSeries is one line of the page: name{label="value",...} number.
type demoSeries struct {
	name   string // without the prefix that all share
	labels map[string]string
	value  string
}

// readCounts reads the metrics as a scraper does.
func readCounts(ctx context.Context, url string) (demoCounts, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("demo: reading the metrics: %w", err)
	}
	c := newDemoClient(url).http
	defer c.CloseIdleConnections()
	resp, err := c.Do(req)
	if err != nil {
		return nil, fmt.Errorf("demo: reading the metrics: %w", err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(io.LimitReader(resp.Body, maxDemoBody))
	if err != nil {
		return nil, fmt.Errorf("demo: reading the metrics: %w", err)
	}
	return parseCounts(string(page)), nil
}

// parseCounts takes the bridge's own series out of a page in the text format
// of Prometheus. None of their label values needs an escape.
func parseCounts(page string) demoCounts {
	var counts demoCounts
	for line := range strings.Lines(page) {
		own, ok := strings.CutPrefix(strings.TrimSpace(line), "mcpbridge_")
		if !ok {
			continue
		}
		series, value, _ := strings.Cut(own, " ")
		name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		one := demoSeries{name: name, labels: map[string]string{}, value: value}
		for label := range strings.SplitSeq(labels, ",") {
			key, quoted, _ := strings.Cut(label, "=")
			one.labels[key] = strings.Trim(quoted, `"`)
		}
		counts = append(counts, one)
	}
	return counts
}

// list words every series of that name, in alphabetical order.
func (c demoCounts) list(name string, word func(labels map[string]string) string) string {
	var out []string
	for _, one := range c {
		if one.name == name {
			out = append(out, strings.TrimPrefix(word(one.labels)+glue+one.value, glue))
		}
	}
	slices.Sort(out)
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// labels returns a word for a series that is made of the values of its labels.
func labels(names ...string) func(map[string]string) string {
	return func(of map[string]string) string {
		values := make([]string, len(names))
		for i, name := range names {
			values[i] = of[name]
		}
		return strings.Join(values, glue)
	}
}

// agreed words one side's handshakes.
func (c demoCounts) agreed(side string) string {
	for _, one := range c {
		if one.name == "negotiations_total" && one.labels["side"] == side {
			return one.labels["requested"] + " asked for, " + one.labels["negotiated"] + " agreed"
		}
	}
	return "no handshake"
}

// summary is what the metrics tell of the conversation, row by row.
func (c demoCounts) summary() [][2]string {
	return [][2]string{
		{"client", c.agreed("client")},
		{"server", c.agreed("server")},
		{"batches", c.list("batches_total", labels()) + " with " + c.list("batch_size_messages_sum", labels()) + " messages"},
		{"rewrites", c.list("rewrites_total", labels("change"))},
		{"losses", c.list("losses_total", labels("change", "verdict"))},
		{"fallbacks", c.list("fallbacks_total", labels("feature", "action"))},
	}
}

// has reports whether a series with that label has that value.
func (c demoCounts) has(name, label, labelValue, value string) bool {
	return slices.ContainsFunc(c, func(s demoSeries) bool {
		return s.name == name && s.labels[label] == labelValue && s.value == value
	})
}

// showCounts checks that the bridge counted what it did.
func showCounts(c demoCounts) demoExhibit {
	e := demoExhibit{title: "What the bridge counted"}
	e.expect(c.agreed("client") == demoClientVersion+" asked for, "+demoClientVersion+" agreed", "the client gets its version")
	e.expect(c.agreed("server") == demoClientVersion+" asked for, "+demoServerVersion+" agreed", "the server gets its version")
	e.expect(c.has("batches_total", "served", "true", "1"), "one batch is served")
	e.expect(c.has("fallbacks_total", "action", "explain", "1"), "one question is answered in place of the client")
	for _, change := range []string{"inject-text", "degrade-resource-link", "trim-implementation"} {
		e.expect(c.has("rewrites_total", "change", change, "1"), change+" is counted once")
	}
	return e
}
