package peerkit

import (
	"bytes"
	"cmp"
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
func serve(handler http.Handler, path, port string) error {
	log, err := openLog(os.Getenv("PEER_LOG"))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	fmt.Printf("{\"url\":\"http://%s%s\"}\n", listener.Addr(), path)
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
		session := sessionOf(r)
		if r.Method != http.MethodPost {
			l.write(entry{Method: "http:" + r.Method, Session: session})
		} else if json.Unmarshal(body, &message) == nil && message.Method == "initialize" {
			opening := &initWriter{ResponseWriter: w, log: l, message: message, session: session}
			if w = opening; session != "" {
				opening.note()
			}
		} else if message.Method != "" {
			client := message.Params.Meta.ClientInfo.Name
			l.write(entry{Method: message.Method, Session: session, Client: client, Header: r.Header.Get("Mcp-Protocol-Version")})
		}
		next.ServeHTTP(w, r)
	})
}

// sessionOf reads the session from the header, or from the URL that HTTP+SSE
// names for it; the SDKs write the parameter in two ways.
func sessionOf(r *http.Request) string {
	q := r.URL.Query()
	return cmp.Or(r.Header.Get("Mcp-Session-Id"), q.Get("sessionId"), q.Get("sessionid"))
}

func (l *receivedLog) write(e entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Method == "initialize" && e.Session != "" {
		l.clients[e.Session] = e.Client
	}
	// A stateless client names itself in each request.
	e.Client = cmp.Or(l.clients[e.Session], e.Client)
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	_, _ = l.out.Write(append(line, '\n'))
}

type implementation struct {
	Name string `json:"name"`
}

type initMessage struct {
	Method string `json:"method"`
	Params struct {
		ProtocolVersion string                     `json:"protocolVersion"`
		Capabilities    map[string]json.RawMessage `json:"capabilities"`
		ClientInfo      implementation             `json:"clientInfo"`
		Meta            struct {
			ClientInfo implementation `json:"io.modelcontextprotocol/clientInfo"`
		} `json:"_meta"`
	} `json:"params"`
}

// initWriter learns the session id from the response to initialize, in time for
// the client's next message, unless the request has it, as over HTTP+SSE.
type initWriter struct {
	http.ResponseWriter
	log     *receivedLog
	message initMessage
	session string
	once    sync.Once
}

func (w *initWriter) note() {
	w.once.Do(func() {
		e := entry{Method: "initialize", Session: cmp.Or(w.session, w.Header().Get("Mcp-Session-Id"))}
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
