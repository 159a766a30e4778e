// Command faulty stands between a client and a real server on the standard
// streams. It passes both ways on, until a line of the client asks for a fault:
// "fault":"NAME" anywhere in it.
//
//	faulty [-down FILE] COMMAND ARGS...
//
// While FILE exists it ends as soon as it is started.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"regexp"
	"sync"
)

const (
	flood = 16 << 20  // bytes on standard error
	long  = 100 << 20 // bytes on one line
)

var (
	wanted = regexp.MustCompile(`"fault":"([a-z]+)"`)
	number = regexp.MustCompile(`"id":(\d+)`) // the bridge numbers its requests
)

func main() {
	log.SetFlags(0)
	down := flag.String("down", "", "end at once while this file exists")
	flag.Parse()
	if _, err := os.Stat(*down); err == nil {
		log.Print("there is no licence for this machine")
		os.Exit(3)
	}
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	check(err)
	out, err := cmd.StdoutPipe()
	check(err)
	check(cmd.Start())
	w := &wrapper{server: in, client: os.Stdout}
	go func() {
		check(w.requests(os.Stdin))
		_ = in.Close()
	}()
	check(w.answers(out))
	check(cmd.Wait())
}

func check(err error) {
	if err != nil {
		log.Fatal("faulty: ", err)
	}
}

// wrapper joins the two sides; a fault and the server's own answers must not
// write at the same time.
type wrapper struct {
	server io.Writer
	mu     sync.Mutex
	client io.Writer
}

func (w *wrapper) answers(from io.Reader) error {
	return eachLine(from, w.print)
}

func (w *wrapper) print(text []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.client.Write(text)
	return err
}

func (w *wrapper) requests(from io.Reader) error {
	return eachLine(from, func(line []byte) error {
		if fault := wanted.FindSubmatch(line); fault != nil {
			return w.commit(string(fault[1]), line)
		}
		_, err := w.server.Write(line)
		return err
	})
}

// commit lets the fault happen in place of the answer.
func (w *wrapper) commit(fault string, line []byte) error {
	id := "0"
	if found := number.FindSubmatch(line); found != nil {
		id = string(found[1])
	}
	head := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, id)
	switch fault {
	case "hang":
		return nil
	case "half":
		return w.print([]byte(head))
	case "long":
		return w.print([]byte(head + string(bytes.Repeat([]byte("x"), long)) + "\"}]}}\n"))
	case "die":
		os.Exit(9)
	case "flood":
		if err := complain(); err != nil {
			return err
		}
		_, err := w.server.Write(line)
		return err
	}
	return fmt.Errorf("there is no fault %q", fault)
}

func complain() error {
	line := bytes.Repeat([]byte("complaint "), 100)
	line[len(line)-1] = '\n'
	for range flood / len(line) {
		if _, err := os.Stderr.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// eachLine hands over the lines with their ends.
func eachLine(from io.Reader, each func([]byte) error) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if err := each(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
