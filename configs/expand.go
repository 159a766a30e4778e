package configs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// expander fills references in: ${NAME} and ${env:NAME} with a variable of the
// environment, ${NAME:-TEXT} with TEXT where that is unset or empty,
// ${file:PATH} with what a file holds, without the line end at its end. $$ is
// one $.
type expander struct {
	lookup func(name string) (string, bool)
	dir    string // of relative paths
	read   func(path string) ([]byte, error)
	files  map[string]string // sums of those that were read, see Sum
}

// maxReference is the largest file that a reference may name, in bytes.
const maxReference = 1 << 20

func newExpander(dir string, lookup func(string) (string, bool)) expander {
	return expander{lookup: lookup, dir: dir, read: os.ReadFile, files: map[string]string{}}
}

// text fills in the references of a text. Its errors never repeat a value.
func (e expander) text(s string) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(s, "$")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		switch {
		case strings.HasPrefix(after, "$"):
			out.WriteByte('$')
			s = after[1:]
		case strings.HasPrefix(after, "{"):
			reference, rest, closed := strings.Cut(after[1:], "}")
			if !closed {
				return "", errors.New("a reference ${... is not closed; write $$ for a $")
			}
			value, err := e.value(reference)
			if err != nil {
				return "", err
			}
			out.WriteString(value)
			s = rest
		default:
			out.WriteByte('$')
			s = after
		}
	}
}

func (e expander) value(reference string) (string, error) {
	if path, ok := strings.CutPrefix(reference, "file:"); ok {
		return e.file(path)
	}
	if strings.HasPrefix(reference, "input:") {
		return "", fmt.Errorf("${%s} is asked for by an editor; write ${NAME} for a variable or ${file:PATH} for a file", reference)
	}
	name, fallback, hasFallback := strings.Cut(strings.TrimPrefix(reference, "env:"), ":-")
	if !isVariable(name) || strings.ContainsAny(name, ":${") {
		return "", fmt.Errorf("${%s} is no reference; write ${NAME} for a variable or ${file:PATH} for a file", name)
	}
	value, set := e.lookup(name)
	switch {
	case hasFallback && value == "":
		return fallback, nil
	case !set:
		return "", fmt.Errorf("the variable %s is not set; set it, or write ${%s:-DEFAULT}", name, name)
	}
	return value, nil
}

func (e expander) file(path string) (string, error) {
	if path == "" {
		return "", errors.New("${file:} names no file")
	}
	path = e.path(path)
	text, err := e.read(path)
	e.files[path] = Sum(text)
	switch {
	case err != nil:
		return "", withoutOp(err, path)
	case len(text) > maxReference:
		return "", fmt.Errorf("%s is larger than %d bytes, which is no secret", path, maxReference)
	case bytes.IndexByte(text, 0) >= 0:
		return "", fmt.Errorf("%s holds a NUL, which is no text", path)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// path makes a path that the file names one of this process: relative ones
// start beside the file.
func (e expander) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.dir, path)
}
