package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// target is one platform, in Go's words.
type target struct{ os, arch string }

// targets lists the platforms of a release.
func targets() []target {
	var all []target
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, target{system, arch})
		}
	}
	return all
}

func (t target) String() string { return t.os + "/" + t.arch }

// program is the file name of mcpbridge on that platform.
func (t target) program() string {
	if t.os == "windows" {
		return "mcpbridge.exe"
	}
	return "mcpbridge"
}

// builder builds the program of one source tree.
type builder struct {
	root string // the module's directory
	tool string // the go command
}

// build writes the program for a platform and returns the version stamped
// into it: the tag of the commit, or a pseudo-version after the last one.
func (b builder) build(ctx context.Context, t target, program string) (string, error) {
	cmd := exec.CommandContext(ctx, b.tool, "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", program, "./cmd/mcpbridge")
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "", err
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v, nil
	}
	return "", errors.New("go build stamped no version; build in a clone of the repository, with git installed")
}

// commitTime is when the commit was made that is checked out.
func (b builder) commitTime(ctx context.Context) (time.Time, error) {
	cmd := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct")
	cmd.Dir = b.root
	text, err := cmd.Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("git log: %w", err)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}
