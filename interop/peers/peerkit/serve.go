package peerkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
)

// serve runs the SDK's handler until standard input closes; SIGTERM ends the
// process by default.
func serve(handler http.Handler, port string) error {
	log, err := openLog(os.Getenv("PEER_LOG"))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	fmt.Printf("{\"url\":\"http://%s/mcp\"}\n", listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return http.Serve(listener, log.wrap(handler))
}

// receivedLog writes a line for every message that reaches the server, before
// the SDK sees it.
type receivedLog struct {
	mu      sync.Mutex
	out     io.Writer
	clients map[string]string
}

type entry struct {
	Method       string   `json:"method"`
	Session      string   `json:"session"`
	Client       string   `json:"client"`
	Version      string   `json:"version,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Header       string   `json:"header,omitempty"`
}

func openLog(path string) (*receivedLog, error) {
	l := &receivedLog{out: io.Discard, clients: map[string]string{}}
	if path == "" {
		return l, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	l.out = file
	return l, err
}

func (l *receivedLog) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var message initMessage
		session := r.Header.Get("Mcp-Session-Id")
		if r.Method != http.MethodPost {
			l.write(entry{Method: "http:" + r.Method, Session: session})
		} else if json.Unmarshal(body, &message) == nil && message.Method == "initialize" {
			w = &initWriter{ResponseWriter: w, log: l, message: message}
		} else if message.Method != "" {
			l.write(entry{Method: message.Method, Session: session, Header: r.Header.Get("Mcp-Protocol-Version")})
		}
		next.ServeHTTP(w, r)
	})
}

func (l *receivedLog) write(e entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Method == "initialize" {
		l.clients[e.Session] = e.Client
	}
	e.Client = l.clients[e.Session]
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	_, _ = l.out.Write(append(line, '\n'))
}

type initMessage struct {
	Method string `json:"method"`
	Params struct {
		ProtocolVersion string                     `json:"protocolVersion"`
		Capabilities    map[string]json.RawMessage `json:"capabilities"`
		ClientInfo      struct {
			Name string `json:"name"`
		} `json:"clientInfo"`
	} `json:"params"`
}

// initWriter learns the session id from the response to initialize, in time for
// the client's next message.
type initWriter struct {
	http.ResponseWriter
	log     *receivedLog
	message initMessage
	once    sync.Once
}

func (w *initWriter) note() {
	w.once.Do(func() {
		e := entry{Method: "initialize", Session: w.Header().Get("Mcp-Session-Id")}
		e.Client, e.Version = w.message.Params.ClientInfo.Name, w.message.Params.ProtocolVersion
		for name := range w.message.Params.Capabilities {
			e.Capabilities = append(e.Capabilities, name)
		}
		w.log.write(e)
	})
}

func (w *initWriter) WriteHeader(status int) {
	w.note()
	w.ResponseWriter.WriteHeader(status)
}

func (w *initWriter) Write(data []byte) (int, error) {
	w.note()
	return w.ResponseWriter.Write(data)
}

// Flush keeps the SDKs able to stream.
func (w *initWriter) Flush() {
	if flusher, ok := w.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *initWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
