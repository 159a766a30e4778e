package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// unit returns the settings of the unit by name; a list for those given more
// than once.
func unit(t *testing.T) map[string][]string {
	t.Helper()
	settings := map[string][]string{}
	for line := range strings.Lines(read(t, "deploy/mcpbridge.service")) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '[' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			t.Fatalf("%q is no setting", line)
		}
		settings[name] = append(settings[name], value)
	}
	return settings
}

func TestUnitIsHardened(t *testing.T) {
	u := unit(t)
	for name, want := range map[string][]string{
		"DynamicUser":              {"yes"},
		"ProtectSystem":            {"strict"},
		"ProtectHome":              {"yes"},
		"NoNewPrivileges":          {"yes"},
		"PrivateTmp":               {"yes"},
		"PrivateDevices":           {"yes"},
		"CapabilityBoundingSet":    {""},
		"SystemCallFilter":         {"@system-service", "~@privileged @resources"},
		"KillMode":                 {"mixed"},
		"RestartPreventExitStatus": {"2"},
	} {
		if !slices.Equal(u[name], want) {
			t.Errorf("%s=%q, want %q", name, u[name], want)
		}
	}
}

func TestUnitStopsInTime(t *testing.T) {
	const goodbye = 3 * time.Second // for sessions to end
	_, settings := tell(t, "config", "sample")
	found := regexp.MustCompile(`(?m)^#? ?drain_timeout: (\S+)`).FindStringSubmatch(settings)
	if found == nil {
		t.Fatalf("there is no drain_timeout:\n%s", settings)
	}
	drain, err := time.ParseDuration(found[1])
	if err != nil {
		t.Fatal(err)
	}
	stop, err := time.ParseDuration(strings.Join(unit(t)["TimeoutStopSec"], ""))
	if err != nil || stop <= drain+goodbye {
		t.Errorf("TimeoutStopSec is %v, %v; the bridge takes up to %v", stop, err, drain+goodbye)
	}
}

func TestUnitRunsTheProgram(t *testing.T) {
	u := unit(t)
	path := filepath.Join(t.TempDir(), "mcpbridge.yaml")
	text := "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nroutes:\n  - name: example\n    path: /mcp\n    upstream: http://127.0.0.1:1/mcp\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := func(line string) []string {
		words := strings.Fields(line)
		if words[0] != "/usr/local/bin/mcpbridge" {
			t.Fatalf("%q runs another program", line)
		}
		i := slices.Index(words, "/etc/mcpbridge/mcpbridge.yaml")
		if i < 0 {
			t.Fatalf("%q does not read the file", line)
		}
		words[i] = path
		return words[1:]
	}
	if code, out := tell(t, args(u["ExecReload"][0])...); code != 0 {
		t.Errorf("%s: %d %s", u["ExecReload"][0], code, out)
	}
	p := start(t, nil, args(u["ExecStart"][0])...)
	if status, body := ask(t, "GET", p.Admin+"healthz", ""); status != 200 {
		t.Errorf("/healthz: %d %s", status, body)
	}
}

// systemd's own opinion: no mistakes, and an exposure of at most 2.0 on its
// scale from 0 to 10.
func TestUnitPassesSystemd(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze on this machine")
	}
	// It asks whether the program exists.
	text := strings.ReplaceAll(read(t, "deploy/mcpbridge.service"), "/usr/local/bin/mcpbridge", program(t))
	path := filepath.Join(t.TempDir(), "mcpbridge.service")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	// It reads the units of this machine too, and may have something to say
	// about those; its exit code counts them.
	said, err := exec.CommandContext(t.Context(), tool, "verify", "--man=no", path).CombinedOutput()
	t.Logf("systemd-analyze verify: %v", err)
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, "mcpbridge") {
			t.Errorf("systemd-analyze verify: %s", line)
		}
	}
	out, err := exec.CommandContext(t.Context(), tool, "security", "--offline=true", "--no-pager", "--threshold=20", path).CombinedOutput()
	if strings.Contains(string(out), "nrecognized option") {
		t.Skip("this systemd-analyze is too old to judge a unit that is not installed")
	}
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}
