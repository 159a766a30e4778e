package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/mcpbridge/mcpbridge/configs"
)

// addHeaders reads headers as flags hold them. Errors name the source, never
// the text.
func addHeaders(h http.Header, lines []string, source string) error {
	for _, line := range lines {
		name, value, err := configs.ParseHeader(line)
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		h.Add(name, value)
	}
	return nil
}

// adminToken reads the file of the admin listener's token; "" is none.
func (f *serveFlags) adminToken(g given) (string, error) {
	if f.adminTokenFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(f.adminTokenFile)
	if err != nil {
		return "", fmt.Errorf("%s: %w", g.source("admin-token-file"), err)
	}
	token := strings.TrimRight(string(text), "\r\n")
	if token == "" {
		return "", fmt.Errorf("%s: %s is empty; it must hold the token", g.source("admin-token-file"), f.adminTokenFile)
	}
	return token, nil
}

// addHeaderFile reads a file with one header a line. Empty lines and those
// that start with # are skipped.
func addHeaderFile(h http.Header, path, source string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, value, err := configs.ParseHeader(line)
		if err != nil {
			return fmt.Errorf("%s: %s, line %d: %w", source, path, n, err)
		}
		h.Add(name, value)
	}
	return nil
}
