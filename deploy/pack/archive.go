package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// paper is one file of an archive.
type paper struct {
	name string // in the archive, slash-separated
	from string // where it is now
	mode fs.FileMode
}

// papersIn lists what goes with the program, by name: what an operator reads
// and copies.
func papersIn(root string) ([]paper, error) {
	var all []paper
	for _, pattern := range []string{
		"LICENSE", "README.md", "CHANGELOG.md", "DESIGN.md", "docs/*.md",
		"configs/*.yaml", "configs/*.json", "deploy/Dockerfile", "deploy/kubernetes.yaml", "deploy/mcpbridge.service",
	} {
		names, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 && !strings.Contains(pattern, "*") {
			return nil, errors.New(pattern + " is missing")
		}
		for _, name := range names {
			all = append(all, paper{name: name, from: filepath.Join(root, filepath.FromSlash(name)), mode: 0o644})
		}
	}
	slices.SortFunc(all, func(a, b paper) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

func (t target) extension() string {
	if t.os == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// write packs files below the directory top. Owners and times of the files do
// not show: all have that of the commit.
func (t target) write(w io.Writer, top string, files []paper, when time.Time) error {
	if t.os == "windows" {
		return writeZip(w, top, files, when)
	}
	return writeTar(w, top, files, when)
}

func writeTar(w io.Writer, top string, files []paper, when time.Time) error {
	squeeze, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(squeeze)
	for _, p := range files {
		info, err := os.Stat(p.from)
		if err != nil {
			return err
		}
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(top, p.name), Size: info.Size(), Mode: int64(p.mode),
			ModTime: when, Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(h); err != nil {
			return err
		}
		if err := p.copyTo(archive); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), squeeze.Close())
}

func writeZip(w io.Writer, top string, files []paper, when time.Time) error {
	archive := zip.NewWriter(w)
	for _, p := range files {
		h := &zip.FileHeader{Name: path.Join(top, p.name), Method: zip.Deflate, Modified: when}
		h.SetMode(p.mode)
		entry, err := archive.CreateHeader(h)
		if err != nil {
			return err
		}
		if err := p.copyTo(entry); err != nil {
			return err
		}
	}
	return archive.Close()
}

func (p paper) copyTo(w io.Writer) error {
	f, err := os.Open(p.from)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
