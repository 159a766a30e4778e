package peerkit

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
)

// serveStdio is one session on standard input and output. What comes in goes
// through a pipe, which takes the place of standard input for the SDK.
func serveStdio(p Peer, args []string) error {
	log, err := openLog(os.Getenv("PEER_LOG"))
	if err != nil {
		return err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	received := os.Stdin
	os.Stdin = reader
	go func() {
		defer writer.Close()
		log.pass(received, writer)
	}()
	posture := ""
	if len(args) > 0 {
		posture = args[0]
	}
	return p.Stdio(context.Background(), posture)
}

// pass hands on what comes in, line by line, and writes each to the log before.
func (l *receivedLog) pass(in io.Reader, out io.Writer) {
	client := ""
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var message initMessage
		if json.Unmarshal(line, &message) == nil && message.Method != "" {
			params := message.Params
			client = cmp.Or(params.Meta.ClientInfo.Name, params.ClientInfo.Name, client)
			l.write(entry{Method: message.Method, Client: client})
		}
		if _, failed := out.Write(line); failed != nil || err != nil {
			return
		}
	}
}
