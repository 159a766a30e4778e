//go:build unix

package stdio_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// childVariable makes the test binary a child. Its value says which.
const childVariable = "STDIO_TEST_CHILD"

func TestMain(m *testing.M) {
	if kind, ok := os.LookupEnv(childVariable); ok {
		kinds()[kind]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// kinds are the children that tests start.
func kinds() map[string]func() {
	return map[string]func(){
		"server": serveAsChild,
		"relay":  relay,
		"exits": func() {
			fmt.Fprintln(os.Stderr, "starting")
			fmt.Fprintln(os.Stderr, "no configuration at hand")
			os.Exit(3)
		},
		"hangs": func() { select {} },
		"closes its output": func() {
			os.Stdout.Close()
			io.Copy(io.Discard, os.Stdin)
		},
		"stubborn": func() { // neither the end of its input nor a signal moves it
			signal.Ignore(syscall.SIGTERM)
			fmt.Println(greeting)
			select {}
		},
		"loner": func() { // and it wants to leave the group, which its leader cannot
			_, _ = syscall.Setsid()
			kinds()["stubborn"]()
		},
		"floods": func() {
			signal.Ignore(syscall.SIGTERM)
			fmt.Println(greeting)
			go func() {
				for line := strings.Repeat("y", 1000) + "\n"; ; {
					fmt.Fprint(os.Stderr, line)
				}
			}()
			for out := bufio.NewWriterSize(os.Stdout, 64<<10); ; {
				fmt.Fprintln(out, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
			}
		},
		"grandchild": func() { select {} },
	}
}

// greeting is what a child says that only wants to be known as started.
const greeting = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}`

// relay makes another process the server: that of the test.
func relay() {
	conn, err := net.Dial("unix", os.Getenv("STDIO_TEST_SOCKET"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		io.Copy(conn, os.Stdin)
		conn.(*net.UnixConn).CloseWrite()
	}()
	io.Copy(os.Stdout, conn)
}

// serveAsChild is an MCP server whose tools do what servers should not.
func serveAsChild() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		m, err := mcp.DecodeMessage([]byte(line))
		if err != nil {
			fmt.Fprintln(os.Stderr, "the bridge sent:", line)
			os.Exit(9)
		}
		if m.Kind != mcp.Request {
			continue
		}
		switch m.Method {
		case mcp.Initialize:
			say(m, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"child","version":"%d"}}`,
				m.Body.Text("protocolVersion"), os.Getpid()))
		case mcp.ToolsCall:
			tools()[m.Body.Text("name")](m)
		default:
			say(m, `{}`)
		}
	}
}

func say(m *mcp.Message, result string) { fmt.Printf("%s\n", answer(m, result)) }

func answer(m *mcp.Message, result string) []byte { return m.Answer(mcp.MustObject(result)).Bytes() }

// text is a tool's result.
func text(s string) string {
	return `{"content":[{"type":"text","text":` + string(mcp.Quote(s)) + `}]}`
}

// tools are the child's tools by name.
func tools() map[string]func(*mcp.Message) {
	return map[string]func(*mcp.Message){
		"pid":        func(m *mcp.Message) { say(m, text(strconv.Itoa(os.Getpid()))) },
		"env":        func(m *mcp.Message) { say(m, text(strings.Join(os.Environ(), "\n"))) },
		"dir":        func(m *mcp.Message) { d, _ := os.Getwd(); say(m, text(d)) },
		"exits":      func(*mcp.Message) { fmt.Fprintln(os.Stderr, "fatal: the disk is full"); os.Exit(4) },
		"is killed":  func(*mcp.Message) { syscall.Kill(os.Getpid(), syscall.SIGKILL) },
		"never":      func(*mcp.Message) {},
		"half":       func(m *mcp.Message) { b := answer(m, text("whole")); os.Stdout.Write(b[:len(b)/2]); os.Exit(5) },
		"no newline": func(m *mcp.Message) { os.Stdout.Write(answer(m, text("last words"))); os.Exit(0) },
		"crlf":       func(m *mcp.Message) { fmt.Printf("\r\n%s\r\n", answer(m, text("crlf"))) },
		"pretty":     func(m *mcp.Message) { say(m, "{\"content\":[\r\t]}") },
		"framed": func(m *mcp.Message) {
			b := answer(m, text("framed"))
			fmt.Printf("Content-Length: %d\r\n\r\n%s\n", len(b), b)
		},
		"noise":      noise,
		"cuts":       cuts,
		"not UTF-8":  func(m *mcp.Message) { fmt.Println(strings.Replace(string(answer(m, text("a?b"))), "a?b", "a\xffb", 1)) },
		"no version": func(m *mcp.Message) { fmt.Printf(`{"id":%s,"result":{}}`+"\n", m.ID) },
		"malformed":  func(m *mcp.Message) { fmt.Printf(`{"jsonrpc":"2.0","result":{"a":1,},"id":%s}`+"\n", m.ID) },
		"large":      func(m *mcp.Message) { n, _ := m.Body.Get("size"); size, _ := strconv.Atoi(string(n)); large(m, size) },
		"complains":  complains,
		"secret":     func(m *mcp.Message) { fmt.Fprintln(os.Stderr, "my token is", os.Getenv("TOKEN")); say(m, text("told")) },
		"forks":      forks,
		"leaves":     func(m *mcp.Message) { forks(m); os.Exit(0) },
	}
}

// noise is what servers print beside messages (field report 84).
func noise(m *mcp.Message) {
	fmt.Print("Azure DevOps MCP Server version : 1.0\n[INFO] ready\n\n- 3 tools\n" +
		`{"level":30,"msg":"json log line"}` + "\n\"a json string\"\n42\n[]\n" + `{"jsonrpc":"2.0","id":` + m.ID.String() + "}\n")
	say(m, text("quiet"))
}

// cuts writes characters of several bytes in pieces (field report 87).
func cuts(m *mcp.Message) {
	b := answer(m, text("≤\U0001F600"))
	for i := range b {
		os.Stdout.Write(b[i : i+1])
	}
	fmt.Println()
}

// large answers with so many bytes on one line, its id last as many servers
// write it, and stays.
func large(m *mcp.Message, size int) {
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	defer out.Flush()
	fmt.Fprint(out, `{"result":{"content":[{"type":"text","text":"`)
	for chunk := strings.Repeat("x", 1<<10); size > 0; size -= len(chunk) {
		out.WriteString(chunk[:min(len(chunk), size)])
	}
	fmt.Fprintf(out, `"}]},"jsonrpc":"2.0","id":%s}`+"\n", m.ID)
}

// complains writes more than a pipe holds, a long line and bytes that are no
// text (field report 90).
func complains(m *mcp.Message) {
	for range 20_000 {
		fmt.Fprintln(os.Stderr, strings.Repeat("z", 100))
	}
	fmt.Fprint(os.Stderr, strings.Repeat("w", 300_000), "\xff\x00\n")
	say(m, text("done"))
}

// forks starts a process that only a signal ends, which keeps the child's
// streams.
func forks(m *mcp.Message) {
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), childVariable+"=grandchild")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	say(m, text(strconv.Itoa(cmd.Process.Pid)))
}
