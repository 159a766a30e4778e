package rewrite

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// maxSafeName is the longest name that all clients take.
const maxSafeName = 64

func safeRune(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// isSafe reports whether all clients take a name as it is.
func isSafe(name string) bool {
	return name != "" && len(name) <= maxSafeName && strings.IndexFunc(name, func(c rune) bool { return !safeRune(c) }) < 0
}

// plainName writes _ for each character that some clients do not take.
func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if safeRune(c) {
			return c
		}
		return '_'
	}, name)
}

// safeNames gives every name of a set one that all clients take, no two the
// same. It depends on the set alone, so that every conversation comes to the
// same names. A safe name stays. Another one is written with _ for what is
// not safe; where that is too long, or taken, or what two names would become,
// it ends in a hash of the name.
func safeNames(names map[string]bool) map[string]string {
	out := make(map[string]string, len(names))
	taken := map[string]bool{}
	claims := map[string]int{}
	var rest []string
	for name := range names {
		if isSafe(name) {
			out[name], taken[name] = name, true
			continue
		}
		if name != "" { // which stands for no name at all
			rest = append(rest, name)
			claims[plainName(name)]++
		}
	}
	slices.Sort(rest)
	var hashed []string
	for _, name := range rest {
		plain := plainName(name)
		if len(plain) > maxSafeName || taken[plain] || claims[plain] > 1 {
			hashed = append(hashed, name)
			continue
		}
		out[name] = plain
	}
	for _, safe := range out {
		taken[safe] = true
	}
	for _, name := range hashed {
		if safe := hashedName(name, taken); safe != "" {
			out[name], taken[safe] = safe, true
		}
	}
	return out
}

// hashedName ends a name in a hash, as long a one as it takes to be the only
// one. "" says that the server made up names to prevent just that.
func hashedName(name string, taken map[string]bool) string {
	sum := sha256.Sum256([]byte(name))
	hash, plain := hex.EncodeToString(sum[:]), plainName(name)
	for n := 8; n <= 56; n += 8 {
		safe := plain[:min(len(plain), maxSafeName-1-n)] + "_" + hash[:n]
		if !taken[safe] {
			return safe
		}
	}
	return ""
}
