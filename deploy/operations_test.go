package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The manual names metrics, flags and settings that there are.
func TestManualIsTrue(t *testing.T) {
	manual := read(t, "docs/operations.md")
	sources, err := filepath.Glob("../cmd/mcpbridge/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	known := read(t, "metrics/testdata/exposition.txt")
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		known += string(text)
	}
	_, help := tell(t, "serve", "--help")
	_, settings := tell(t, "config", "sample")
	for _, one := range []struct{ what, pattern, in string }{
		{"metric", "`(mcpbridge_[a-z_]+)", known},
		{"flag", "`(--[a-z-]+)`", help},
		{"setting", "`([a-z]+_[a-z]+)`", settings},
		{"setting of the proxies", `# (?:more than|as|in) ([a-z]+_[a-z]+)`, settings},
	} {
		found := regexp.MustCompile(one.pattern).FindAllStringSubmatch(manual, -1)
		if len(found) == 0 {
			t.Errorf("the manual names no %s", one.what)
		}
		for _, m := range found {
			if !strings.Contains(one.in, m[1]) && !strings.Contains(m[0], "`proxy_") {
				t.Errorf("the manual names %s, and there is no such %s", m[1], one.what)
			}
		}
	}
}
