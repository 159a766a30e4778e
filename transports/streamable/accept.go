package streamable

import (
	"strconv"
	"strings"
)

// acceptance is what an Accept header says about one media type.
type acceptance struct {
	ok       bool
	specific bool // the type or its group was named, not only */*
}

// accepts reads Accept headers (RFC 9110 section 12.5.1) for one media type,
// given as group and full name. No header accepts everything. The most
// specific range that matches decides, so that q=0 can exclude.
func accepts(headers []string, group, full string) acceptance {
	best, a := 0, acceptance{}
	empty := true
	for _, h := range headers {
		for item := range strings.SplitSeq(h, ",") {
			rng, params, _ := strings.Cut(item, ";")
			rng = strings.ToLower(strings.TrimSpace(rng))
			if rng == "" {
				continue
			}
			empty = false
			if rank := matches(rng, group, full); rank > best {
				best, a = rank, acceptance{ok: !excluded(params), specific: rank > 1}
			}
		}
	}
	if empty {
		return acceptance{ok: true}
	}
	return a
}

func matches(rng, group, full string) int {
	switch rng {
	case full:
		return 3
	case group:
		return 2
	case "*/*", "*": // "*" is what some URL libraries of old send
		return 1
	}
	return 0
}

// excluded reports a q parameter of zero.
func excluded(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q == 0
		}
	}
	return false
}

func acceptsJSON(headers []string) bool { return accepts(headers, "application/*", typeJSON).ok }

func acceptsEvents(headers []string) acceptance { return accepts(headers, "text/*", typeEvents) }
