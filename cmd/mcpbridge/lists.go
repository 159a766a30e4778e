package main

import "strings"

// spread writes out the lists that supergateway takes: --cors A B becomes
// --cors=A --cors=B. A flag whose value is optional would otherwise leave the
// value behind, to be taken for the URL of the upstream.
func spread(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		flag := args[i]
		if flag == "--" {
			return append(out, args[i:]...)
		}
		n := 0
		for i+1 < len(args) && isListed(flag, args[i+1]) {
			i, n = i+1, n+1
			out = append(out, flag+"="+args[i])
		}
		if n == 0 {
			out = append(out, flag)
		}
	}
	return out
}

// isListed reports whether an argument belongs to the list of a flag.
func isListed(flag, arg string) bool {
	switch flag {
	case "--cors":
		return !strings.HasPrefix(arg, "-")
	case "--healthEndpoint", "--health-endpoint":
		return strings.HasPrefix(arg, "/")
	}
	return false
}
