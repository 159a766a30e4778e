package mcp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func client(name, version, protocol string) mcp.Peer {
	info := mcp.NewObject()
	info.Set("name", mcp.Quote(name))
	info.Set("version", mcp.Quote(version))
	return mcp.Peer{Version: mcp.Version(protocol), Info: info}
}

func TestClientVersions(t *testing.T) {
	for want, versions := range map[string]map[string]bool{
		">=1.2 <2": {
			"1.2": true, "1.2.0": true, "v1.2": true, "1.10": true, "1.99.99": true, "01.2": true, "1.2+build.9": true,
			"1.1.9": false, "2": false, "2.0": false, "0.9": false, "2.0.0-rc.1": true, "1.2.0-beta": false,
			"": false, "latest": false, "1.x": false, "1..3": false, ".2": false, "1.": false, "-1": false, "1.2 ": false, "1,3": false, "１.3": false,
		},
		"=1.2":        {"1.2": true, "1.2.0.0": true, "1.2.1": false, "1.20": false},
		"!=1.2":       {"1.2.0": false, "1.3": true, "next": false}, // which is no version at all
		">1,<=3":      {"1": false, "1.0.1": true, "3.0": true, "3.0.1": false},
		"> 1, <= 3":   {"1": false, "2": true, "3.1": false},
		">1<3":        {"1": false, "2": true, "3": false},
		">=1.0-rc.2":  {"1.0-rc.1": false, "1.0-rc.2": true, "1.0-rc.10": true, "1.0": true, "1.0-rc": false, "1.0-rc.2.1": true, "1.0-rc.x": true, "1.0-7": false},
		">9999999999": {"99999999999999999999999999": true, "9999999999": false, "9999999998.9": false},
		"1.*":         {"1.2": true, "1.": true, "2.1": false, "1": false},
		"*-beta":      {"x-beta": true, "1/2-beta": true, "beta": false},
		"nightly":     {"nightly": true, "Nightly": false, "nightly2": false},
		"":            {"": true, "anything": true},
	} {
		m := mcp.ClientMatch{Name: "*", Version: want}
		if err := m.Valid(); err != nil {
			t.Errorf("%q: %v", want, err)
		}
		for version, fits := range versions {
			if m.Fits(client("c", version, "")) != fits {
				t.Errorf("%q fits %q: %v", want, version, !fits)
			}
		}
	}
	long := client("c", "1."+strings.Repeat("0", 1000), "")
	if (mcp.ClientMatch{Version: ">=1"}).Fits(long) {
		t.Error("a version of a thousand figures is read")
	}
}

func TestClientNamesAndProtocols(t *testing.T) {
	for _, tc := range []struct {
		match mcp.ClientMatch
		peer  mcp.Peer
		fits  bool
	}{
		{mcp.ClientMatch{Name: "claude-*"}, client("claude-code", "1", ""), true},
		{mcp.ClientMatch{Name: "claude-*"}, client("Claude-code", "1", ""), false},
		{mcp.ClientMatch{Name: "*/tool"}, client("vendor/sub/tool", "1", ""), true},
		{mcp.ClientMatch{Name: "*"}, client("a/b", "1", ""), true},
		{mcp.ClientMatch{Name: "?b"}, client("éb", "1", ""), true},
		{mcp.ClientMatch{Name: "[a-c]x"}, client("bx", "1", ""), true},
		{mcp.ClientMatch{Name: `a\*`}, client("ab", "1", ""), false},
		{mcp.ClientMatch{Name: `a\*`}, client("a*", "1", ""), true},
		{mcp.ClientMatch{Name: "*"}, mcp.Peer{}, true},
		{mcp.ClientMatch{Name: "c"}, mcp.Peer{}, false},
		{mcp.ClientMatch{Protocol: "2025-*"}, client("c", "1", "2025-06-18"), true},
		{mcp.ClientMatch{Protocol: "2025-*"}, client("c", "1", "2024-11-05"), false},
		{mcp.ClientMatch{Protocol: "<2025-06-18"}, client("c", "1", "2025-03-26"), true},
		{mcp.ClientMatch{Protocol: ">=2025-03-26 !=2025-06-18"}, client("c", "1", "2025-06-18"), false},
		{mcp.ClientMatch{Protocol: ">=2025-03-26"}, mcp.Peer{}, false},
		{mcp.ClientMatch{Name: "c", Version: "<2", Protocol: "2025-03-26"}, client("c", "1", "2025-03-26"), true},
		{mcp.ClientMatch{Name: "c", Version: "<2", Protocol: "2025-03-26"}, client("c", "2", "2025-03-26"), false},
		{mcp.ClientMatch{Name: "c", Version: "<2", Protocol: "2025-03-26"}, client("d", "1", "2025-03-26"), false},
		{mcp.ClientMatch{Name: "["}, client("[", "1", ""), false},
	} {
		if tc.match.Fits(tc.peer) != tc.fits {
			t.Errorf("%+v fits %s: %v", tc.match, tc.peer.Info.Raw(), !tc.fits)
		}
	}
}

func TestClientMatchValid(t *testing.T) {
	for field, matches := range map[string][]mcp.ClientMatch{
		"name":     {{}, {Name: "["}, {Name: `a\`}, {Name: "x[a-"}},
		"version":  {{Version: ">=x"}, {Version: ">="}, {Version: ">=1 2"}, {Version: ">=1 <"}, {Version: "=>1"}, {Version: "<1.2."}, {Version: "=" + strings.Repeat("=", 40)}, {Version: strings.Repeat("<1", 17)}, {Version: "[1"}},
		"protocol": {{Protocol: ">=2025"}, {Protocol: ">=1.2"}, {Protocol: "<2025-06-18 >"}, {Protocol: "[2025"}},
	} {
		for _, m := range matches {
			var wrong *mcp.FieldError
			if err := m.Valid(); !errors.As(err, &wrong) || wrong.Field != field || wrong.Problem == "" {
				t.Errorf("%+v: %v, not about %s", m, err, field)
			}
		}
	}
	for _, m := range []mcp.ClientMatch{{Name: "*"}, {Version: "1"}, {Protocol: "2025-06-18"}, {Version: ">= 1.2,<2"}} {
		if err := m.Valid(); err != nil {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// FuzzClientMatch: no text that an operator or a client gives stops the bridge,
// and a match that is not valid fits nobody.
func FuzzClientMatch(f *testing.F) {
	f.Add(">=1.2 <2", "1.3", "claude-*", "claude-code")
	f.Add("[", "v1.0-rc.1+x", `\`, "")
	f.Add("!=1,", "1..", "*/*", "a/b")
	f.Fuzz(func(t *testing.T, want, version, glob, name string) {
		m := mcp.ClientMatch{Name: mcp.Glob(glob), Version: want}
		if m.Fits(client(name, version, "")) && m.Valid() != nil && m != (mcp.ClientMatch{}) {
			t.Errorf("%+v is not valid and fits %q %q", m, name, version)
		}
	})
}
