// Command pack builds what a release offers for download: the program for
// every platform, each in an archive with its papers, and the checksums.
//
// It refuses to invent anything: the version is the one that the Go toolchain
// stamped into the program from the repository's tags, and all times are that
// of the commit, so that the same commit gives the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := flag.String("o", "dist", "`directory` of the archives; those of an earlier run go away")
	tool := flag.String("go", "go", "the Go `command`")
	flag.Parse()
	if err := packAll(ctx, *out, builder{root: ".", tool: *tool}); err != nil {
		fmt.Fprintf(os.Stderr, "pack: %v\n", err)
		os.Exit(1)
	}
}

// packAll fills the directory out.
func packAll(ctx context.Context, out string, b builder) error {
	when, err := b.commitTime(ctx)
	if err != nil {
		return err
	}
	papers, err := papersIn(b.root)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mcpbridge-pack")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := empty(out); err != nil {
		return err
	}
	var sums checksums
	for _, t := range targets() {
		name, err := packOne(ctx, out, filepath.Join(work, t.os+"_"+t.arch), b, t, papers, when)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		fmt.Println(filepath.Join(out, name))
		if err := sums.add(out, name); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(out, sumsFile), sums.text(), 0o644)
}

// packOne builds for one platform and returns the archive's name.
func packOne(ctx context.Context, out, program string, b builder, t target, papers []paper, when time.Time) (string, error) {
	version, err := b.build(ctx, t, program)
	if err != nil {
		return "", err
	}
	top := fmt.Sprintf("mcpbridge_%s_%s_%s", version, t.os, t.arch)
	name := top + t.extension()
	f, err := os.Create(filepath.Join(out, name))
	if err != nil {
		return "", err
	}
	content := append([]paper{{name: t.program(), from: program, mode: 0o755}}, papers...)
	return name, errors.Join(t.write(f, top, content, when), f.Close())
}

// empty removes what an earlier run left.
func empty(out string) error {
	old, err := filepath.Glob(filepath.Join(out, "mcpbridge_*"))
	for _, name := range append(old, filepath.Join(out, sumsFile)) {
		if e := os.Remove(name); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
