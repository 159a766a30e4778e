// Package deploy_test checks what is deployed against the program that is
// deployed: as far as a machine without a container engine, a cluster or a
// running systemd can.
package deploy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// built is the program as the Dockerfile builds it, but for this machine.
type built struct {
	path string
	text string // what the build printed
	err  error
}

var (
	once    sync.Once
	product built
	workDir string
)

func TestMain(m *testing.M) {
	var err error
	if workDir, err = os.MkdirTemp("", "mcpbridge-deploy"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(workDir)
	os.Exit(code)
}

// program returns the path of the program. It is built once, by the very
// command line that stands in the Dockerfile.
func program(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the Dockerfile's command line needs a shell")
	}
	once.Do(func() {
		product.path = filepath.Join(workDir, "mcpbridge")
		line := strings.ReplaceAll(buildLine(t), "/out/mcpbridge", product.path)
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = ".."
		cmd.Env = append(os.Environ(), "TARGETOS="+runtime.GOOS, "TARGETARCH="+runtime.GOARCH)
		text, err := cmd.CombinedOutput()
		product.text, product.err = string(text), err
	})
	if product.err != nil {
		t.Fatalf("the Dockerfile's build: %v\n%s", product.err, product.text)
	}
	return product.path
}

// running is the program at work.
type running struct {
	Endpoint string `json:"endpoint"`
	Admin    string `json:"admin"`
}

// start runs the program until the test ends, and waits until it serves.
func start(t *testing.T, env []string, args ...string) running {
	t.Helper()
	path := program(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append([]string{}, env...) // nothing of this machine's
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	log := bufio.NewReader(read)
	t.Cleanup(func() {
		defer cancel()
		cmd.Process.Signal(os.Interrupt)
		rest, _ := io.ReadAll(log)
		if err := cmd.Wait(); err != nil {
			t.Errorf("mcpbridge %s: %v\n%s", strings.Join(args, " "), err, rest)
		}
		read.Close()
	})
	return serving(t, log, args)
}

// serving reads the log up to the line that tells the addresses.
func serving(t *testing.T, log *bufio.Reader, args []string) running {
	t.Helper()
	var before strings.Builder
	for {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("mcpbridge %s ended before it served:\n%s%s", strings.Join(args, " "), before.String(), line)
		}
		before.WriteString(line)
		var entry struct {
			running
			Message string `json:"message"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Message == "serving" {
			return entry.running
		}
	}
}

// ask sends a request to a listener of this machine under another name, with a
// bearer token if there is one.
func ask(t *testing.T, method, url, host string, token ...string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	for _, one := range token {
		req.Header.Set("Authorization", "Bearer "+one)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// tell runs the program to its end and returns what it said.
func tell(t *testing.T, args ...string) (code int, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	cmd.Env = []string{}
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	if ended != nil {
		return ended.ExitCode(), string(out)
	}
	return 0, string(out)
}

// read returns a file of the repository, by its path from the root.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
