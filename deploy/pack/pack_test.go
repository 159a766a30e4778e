package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// entry is one file of an archive as whoever unpacks it finds it.
type entry struct {
	name, text string
	mode       os.FileMode
	when       time.Time
}

func untar(t *testing.T, archive []byte) (all []entry) {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" {
			t.Errorf("%s has an owner", h.Name)
		}
		all = append(all, entry{h.Name, string(text), h.FileInfo().Mode(), h.ModTime.UTC()})
	}
}

func unzip(t *testing.T, archive []byte) (all []entry) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		open, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(open)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entry{f.Name, string(text), f.Mode(), f.Modified.UTC()})
	}
	return all
}

func TestArchives(t *testing.T) {
	when := time.Unix(1_700_000_001, 0).UTC()
	for _, target := range targets() {
		var first []byte
		for range 2 { // files made anew, at another time and with other modes
			dir := t.TempDir()
			files := []paper{{target.program(), filepath.Join(dir, "a"), 0o755}, {"docs/x.md", filepath.Join(dir, "b"), 0o644}}
			for i, text := range []string{"the program", "a paper"} {
				if err := os.WriteFile(files[i].from, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var archive bytes.Buffer
			if err := target.write(&archive, "top", files, when); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = archive.Bytes()
				continue
			}
			if !bytes.Equal(first, archive.Bytes()) {
				t.Errorf("%s: the same files give different archives", target)
			}
		}
		read := untar
		if target.extension() == ".zip" {
			read = unzip
		}
		want := []entry{{"top/" + target.program(), "the program", 0o755, when}, {"top/docs/x.md", "a paper", 0o644, when}}
		if got := read(t, first); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", target, got, want)
		}
	}
}

func TestEveryPlatformIsBuilt(t *testing.T) {
	var all []string
	for _, one := range targets() {
		all = append(all, one.String()+one.extension())
	}
	want := "linux/amd64.tar.gz linux/arm64.tar.gz darwin/amd64.tar.gz darwin/arm64.tar.gz windows/amd64.zip windows/arm64.zip"
	if got := strings.Join(all, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestPapersAreThere(t *testing.T) {
	papers, err := papersIn("../..")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range papers {
		names = append(names, p.name)
	}
	for _, want := range []string{"LICENSE", "README.md", "docs/operations.md", "deploy/mcpbridge.service", "deploy/kubernetes.yaml", "configs/sidecar.yaml"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %q", want, names)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %q", names)
	}
	if _, err := papersIn(t.TempDir()); err == nil {
		t.Error("a tree without a license was packed")
	}
}

func TestChecksums(t *testing.T) {
	dir := t.TempDir()
	var sums checksums
	want := ""
	for _, name := range []string{"b", "a"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := sums.add(dir, name); err != nil {
			t.Fatal(err)
		}
		want = fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte("text of "+name)), name) + want
	}
	if got := string(sums.text()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if sums.add(dir, "absent") == nil {
		t.Error("a file that is not there has a checksum")
	}
}

func TestEarlierRunIsRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"mcpbridge_v1_linux_amd64.tar.gz", sumsFile, "mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := empty(dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "mine" {
		t.Errorf("%v, %v", left, err)
	}
}

// The program carries the version that its archive is named after.
func TestVersionIsStamped(t *testing.T) {
	b := builder{root: "../..", tool: "go"}
	if _, err := b.commitTime(t.Context()); err != nil {
		t.Skipf("this is no clone of the repository, or git is missing: %v", err)
	}
	here := target{runtime.GOOS, runtime.GOARCH}
	path := filepath.Join(t.TempDir(), here.program())
	version, err := b.build(t.Context(), here, path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(version, "v") {
		t.Errorf("version %q", version)
	}
	says, err := command(t, path, "version")
	if err != nil || !strings.HasPrefix(says, "mcpbridge "+version+" ") {
		t.Errorf("the program says %q, %v; the archive %q", says, err, version)
	}
}

func command(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	return string(out), err
}
