package golden

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Case is one transcript file.
type Case struct {
	Path    string
	archive *txtar.Archive
	Setup   Setup
	Blocks  []Block
}

// Block is one step and the outputs that must follow it.
type Block struct {
	Step    string
	Outputs []string
	lead    []string // blank lines and comments before the step
}

// Setup is the conversation a transcript starts in.
type Setup struct {
	Client, Server mcp.Peer
	Options        mcp.Options
	Change         string // the change that the transcript is about
	Ladder         string // a ladder other than the standard one
	Routed         bool   // the server is reached over HTTP
	Ready          bool   // the client may be asked questions from the start
	Headless       bool   // the client's messages come without headers
	OneCredential  bool   // the server sees one credential for all clients
}

// Read parses a transcript file.
func Read(path string) (*Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &Case{Path: path, archive: txtar.Parse(data)}
	c.Setup.Options = mcp.DefaultOptions()
	c.Setup.Ready = true
	for _, f := range c.archive.Files {
		switch f.Name {
		case "setup":
			err = c.Setup.parse(string(f.Data))
		case "transcript":
			err = c.parse(string(f.Data))
		default:
			err = fmt.Errorf("unknown file %q", f.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("golden: %s: %w", path, err)
		}
	}
	return c, nil
}

func (s *Setup) parse(text string) error {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, _ := strings.Cut(line, ":")
		if err := s.set(key, strings.TrimSpace(value)); err != nil {
			return fmt.Errorf("setup %q: %w", line, err)
		}
	}
	return s.Options.Valid()
}

func (s *Setup) set(key, value string) error {
	switch key {
	case "client":
		return peer(&s.Client, value)
	case "server":
		return peer(&s.Server, value)
	case "change":
		s.Change = value
	case "ladder":
		s.Ladder = value
	case "ready":
		s.Ready = value == "true"
	case "routed":
		s.Routed = value == "true"
	case "headless":
		s.Headless = value == "true"
	case "one-credential":
		s.OneCredential = value == "true"
	case "strict":
		s.Options.Strict = value == "true"
	case "inject-text":
		s.Options.InjectText = mcp.InjectText(value)
	case "fallback":
		action, declare := strings.CutPrefix(value, "declare ")
		s.Options.Fallback = mcp.Fallback{Action: mcp.FallbackAction(action), Declare: declare}
	case "loss":
		s.Options.Loss = mcp.LossPolicy(value)
	case "repair-output-schema":
		s.Options.RepairOutputSchema = value == "true"
	case "strip-output-schema":
		s.Options.StripOutputSchema = value == "true"
	case "flatten-lists":
		s.Options.FlattenLists = value == "true"
	case "safe-names":
		s.Options.SafeNames = value == "true"
	case "not-found-code":
		s.Options.NotFoundCode = mcp.NotFoundCode(value)
	case "fallback-rule": // one for each line: pattern, then as fallback
		tool, action, _ := strings.Cut(value, " ")
		action, declare := strings.CutPrefix(action, "declare ")
		s.Options.FallbackRules = append(s.Options.FallbackRules, mcp.FallbackRule{
			Tool: mcp.Glob(tool), Fallback: mcp.Fallback{Action: mcp.FallbackAction(action), Declare: declare},
		})
	default:
		return fmt.Errorf("unknown key")
	}
	return nil
}

// peer reads a version and, after it, the peer's capabilities.
func peer(p *mcp.Peer, value string) error {
	version, capabilities, _ := strings.Cut(value, " ")
	p.Version = mcp.Version(version)
	p.Info = mcp.MustObject(`{"name":"peer","version":"1"}`)
	if capabilities == "" {
		capabilities = "{}"
	}
	raw, err := mcp.ParseRaw([]byte(capabilities))
	if err != nil {
		return err
	}
	p.Capabilities, _ = mcp.ParseObject(raw)
	return nil
}

func (c *Case) parse(text string) error {
	var lead []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			lead = append(lead, line)
		case isStep(line):
			c.Blocks = append(c.Blocks, Block{Step: line, lead: lead})
			lead = nil
		case len(c.Blocks) == 0:
			return fmt.Errorf("an output before the first step: %q", line)
		default:
			b := &c.Blocks[len(c.Blocks)-1]
			b.Outputs = append(b.Outputs, line)
		}
	}
	return nil
}

func isStep(line string) bool {
	head, _, _ := strings.Cut(line, " ")
	return head == "wait" || strings.HasSuffix(head, ">")
}

// write replaces the outputs of the file by those of this run.
func (c *Case) write(outputs [][]string) error {
	var b strings.Builder
	for i, block := range c.Blocks {
		for _, line := range append(block.lead, block.Step) {
			b.WriteString(line + "\n")
		}
		for _, line := range outputs[i] {
			b.WriteString(line + "\n")
		}
	}
	for i := range c.archive.Files {
		if c.archive.Files[i].Name == "transcript" {
			c.archive.Files[i].Data = []byte(b.String())
		}
	}
	return os.WriteFile(c.Path, txtar.Format(c.archive), 0o644)
}
