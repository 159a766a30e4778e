package deploy_test

import (
	"debug/elf"
	"encoding/json"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// instruction is one of a Dockerfile.
type instruction struct{ word, rest string }

// dockerfile returns the instructions of each stage, FROM first.
func dockerfile(t *testing.T) (stages [][]instruction) {
	t.Helper()
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(read(t, "deploy/Dockerfile"), "")
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "" {
			continue
		}
		if word == "FROM" {
			stages = append(stages, nil)
		}
		if len(stages) == 0 {
			t.Fatalf("%s stands before the first FROM", word)
		}
		last := &stages[len(stages)-1]
		*last = append(*last, instruction{word, strings.TrimSpace(rest)})
	}
	return stages
}

// all returns what follows a word in a stage.
func all(stage []instruction, word string) (rests []string) {
	for _, i := range stage {
		if i.word == word {
			rests = append(rests, i.rest)
		}
	}
	return rests
}

// only returns what follows a word that stands once in the image's stage.
func only(t *testing.T, word string) string {
	t.Helper()
	stages := dockerfile(t)
	rests := all(stages[len(stages)-1], word)
	if len(rests) != 1 {
		t.Fatalf("the image has %d instructions %s", len(rests), word)
	}
	return rests[0]
}

// buildLine returns the command line that builds the program.
func buildLine(t *testing.T) string {
	t.Helper()
	for _, line := range all(dockerfile(t)[0], "RUN") {
		if strings.Contains(line, "go build") {
			return line
		}
	}
	t.Fatal("the Dockerfile builds nothing")
	return ""
}

func words(t *testing.T, list string) (args []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(list), &args); err != nil {
		t.Fatalf("%s is not in the form that needs no shell: %v", list, err)
	}
	return args
}

func TestImageHoldsTheProgramAlone(t *testing.T) {
	stages := dockerfile(t)
	if len(stages) != 2 || only(t, "FROM") != "scratch" {
		t.Fatalf("%d stages, the last from %s", len(stages), only(t, "FROM"))
	}
	image := all(stages[0], "FROM")[0]
	if host, _, ok := strings.Cut(regexp.MustCompile(`--\S+ `).ReplaceAllString(image, ""), "/"); ok && strings.ContainsAny(host, ".:") {
		t.Errorf("FROM %s names a registry", image)
	}
	if !strings.Contains(strings.Join(all(stages[1], "COPY"), "\n"), "/etc/ssl/certs/ca-certificates.crt") {
		t.Error("the image has no certificates; https upstreams would not be trusted")
	}
	if runs := all(stages[1], "RUN"); len(runs) > 0 {
		t.Errorf("RUN %s: there is no shell in the image", runs[0])
	}
	if user := only(t, "USER"); !regexp.MustCompile(`^[1-9]\d{3,}:[1-9]\d{3,}$`).MatchString(user) {
		t.Errorf("USER %s is not numbers of a user other than root", user)
	}
}

func TestImageRunsWhatIsInIt(t *testing.T) {
	entry, command := words(t, only(t, "ENTRYPOINT")), words(t, only(t, "CMD"))
	if len(entry) != 1 || !strings.Contains(buildLine(t), "/out"+entry[0]+" ") {
		t.Fatalf("ENTRYPOINT %q is not what was built", entry)
	}
	exposed := strings.Fields(only(t, "EXPOSE"))
	if got := ports(command); strings.Join(got, " ") != strings.Join(exposed, " ") {
		t.Errorf("the arguments open %q, EXPOSE says %q", got, exposed)
	}
	if code, text := tell(t, append(command, "--upstream", "http://127.0.0.1:1/mcp")...); code != 2 || !strings.Contains(text, "--admin-token-file") {
		t.Errorf("without a token for its metrics: %d %s", code, text)
	}
	// The last of a flag counts: these ports may be taken here.
	args := append(command, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	p := start(t, []string{"MCPBRIDGE_UPSTREAM=http://127.0.0.1:1/mcp"}, args...)
	if status, body := ask(t, "GET", p.Admin+"healthz", ""); status != 200 {
		t.Errorf("/healthz: %d %s", status, body)
	}
}

// ports returns the ports of addresses among arguments.
func ports(args []string) (found []string) {
	for _, arg := range args {
		if m := regexp.MustCompile(`^\S*:(\d+)$`).FindStringSubmatch(arg); m != nil {
			found = append(found, m[1])
		}
	}
	return found
}

func TestProgramIsStatic(t *testing.T) {
	path := program(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux programs go into the image")
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program needs a dynamic loader, and the image has none")
		}
	}
	if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("the program needs %q, %v", libraries, err)
	}
}

func TestContextKeepsTheVersion(t *testing.T) {
	for line := range strings.Lines(read(t, ".dockerignore")) {
		switch strings.Trim(strings.TrimSpace(line), "/") {
		case ".git", "*", ".*", "go.mod", "go.sum", "cmd":
			t.Errorf(".dockerignore keeps out %s, which the build needs", strings.TrimSpace(line))
		}
	}
}
