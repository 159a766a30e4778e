package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sumsFile is read by `sha256sum --check`.
const sumsFile = "SHA256SUMS"

// checksums are the lines of that file.
type checksums struct{ lines []string }

// add takes up a file of a directory.
func (c *checksums) add(dir, name string) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	c.lines = append(c.lines, fmt.Sprintf("%x  %s\n", sum.Sum(nil), name))
	return nil
}

// text returns the lines, sorted by name.
func (c *checksums) text() []byte {
	const digest = 2 * sha256.Size
	slices.SortFunc(c.lines, func(a, b string) int { return strings.Compare(a[digest:], b[digest:]) })
	return []byte(strings.Join(c.lines, ""))
}
