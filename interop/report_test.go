package interop

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// table prints a row for each client and a column for each server; a cell counts
// the steps of both capability sets.
func table(clients, servers []peer, direct, bridged results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s", "client\\server")
	for _, s := range servers {
		fmt.Fprintf(&b, " %13s", s.name)
	}
	for _, c := range clients {
		fmt.Fprintf(&b, "\n%-14s", c.name)
		for _, s := range servers {
			fmt.Fprintf(&b, " %13s", cell(c.name, s.name, direct, bridged))
		}
	}
	return b.String()
}

func cell(client, server string, direct, bridged results) string {
	var directOK, bridgedOK, total int
	for k, o := range direct {
		if k.client != client || k.server != server {
			continue
		}
		total++
		if o.OK {
			directOK++
		}
		if bridged[k].OK {
			bridgedOK++
		}
	}
	if bridged == nil {
		return fmt.Sprintf("%d/%d", directOK, total)
	}
	return fmt.Sprintf("%d/%d/%d", directOK, bridgedOK, total)
}

// failures groups the failed steps by step and reason, for a person to explain.
func failures(r results) string {
	groups := map[string]map[string][]string{}
	for k, o := range r {
		if o.OK {
			continue
		}
		reason := o.Error
		if reason == "" {
			reason = "got " + string(o.Value)
		}
		reason = k.step + ": " + strings.Join(strings.Fields(reason), " ")
		if len(reason) > 160 {
			reason = reason[:160] + "…"
		}
		if groups[reason] == nil {
			groups[reason] = map[string][]string{}
		}
		groups[reason][k.server] = append(groups[reason][k.server], k.client+"/"+k.caps)
	}
	var b strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(groups)) {
		fmt.Fprintf(&b, "%s\n", reason)
		for _, server := range slices.Sorted(maps.Keys(groups[reason])) {
			visitors := groups[reason][server]
			slices.Sort(visitors)
			fmt.Fprintf(&b, "    server %s: %s\n", server, strings.Join(visitors, " "))
		}
	}
	return b.String()
}

// negotiated prints the protocol version of each pair, as the client saw it.
func negotiated(clients, servers []peer, r results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s", "client\\server")
	for _, s := range servers {
		fmt.Fprintf(&b, " %13s", s.name)
	}
	for _, c := range clients {
		fmt.Fprintf(&b, "\n%-14s", c.name)
		for _, s := range servers {
			var value struct{ Negotiated string }
			connect := r[key{c.name, s.name, "full", "connect"}]
			if json.Unmarshal(connect.Value, &value) != nil || value.Negotiated == "" {
				value.Negotiated = "none"
			}
			fmt.Fprintf(&b, " %13s", value.Negotiated)
		}
	}
	return b.String()
}
