package main

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestSplitWords(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a backslash is part of paths there")
	}
	for line, want := range map[string][]string{
		"":                                       nil,
		"  ":                                     nil,
		"npx -y  some-server\t/tmp\n":            {"npx", "-y", "some-server", "/tmp"},
		`'/my files/x' "a b" c"d e"f`:            {"/my files/x", "a b", "cd ef"},
		`a\ b \"c\" \\`:                          {"a b", `"c"`, `\`},
		`"a\"b\\c\d\$"`:                          {`a"b\c\d$`},
		`'a\b' "it's" 'say "x"'`:                 {`a\b`, "it's", `say "x"`},
		`"" '' x`:                                {"", "", "x"},
		"uvx mcp-server@1.2 --path=~/x {a,b}":    {"uvx", "mcp-server@1.2", "--path=~/x", "{a,b}"},
		"sh -c 'cd /x && exec ./server $HOME'":   {"sh", "-c", "cd /x && exec ./server $HOME"},
		`server --json '{"a": [1, "b"]}' -- end`: {"server", "--json", `{"a": [1, "b"]}`, "--", "end"},
		"naïve ≤":                                {"naïve", "≤"},
	} {
		if got, err := splitWords(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v", line, got, err)
		}
	}
	for line, want := range map[string]string{
		`a "b`:          `the quote " is not closed`,
		"a 'b":          "the quote ' is not closed",
		`a \`:           "ends in a backslash",
		"a | b":         "| has a meaning only to a shell",
		"cd /x && ./a":  "& has a meaning only to a shell",
		"a $HOME":       "$ has a meaning only to a shell",
		"a > secret.tx": "> has a meaning only to a shell",
	} {
		if _, err := splitWords(line); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", line, err)
		}
	}
}
