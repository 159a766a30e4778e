package configs_test

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/configs"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]string{
		"64MiB": "64MiB", "67108864": "64MiB", "1 GiB": "1GiB", "1000": "1000", "10KB": "10000", "1024B": "1KiB", "0": "0",
	} {
		var s configs.Size
		if err := s.Set(text); err != nil || s.String() != want {
			t.Errorf("%s: got %s, %v", text, s.String(), err)
		}
	}
	for _, bad := range []string{"", "x", "-1", "1.5MiB", "9223372036854775807KiB", "MiB"} {
		if err := new(configs.Size).Set(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
