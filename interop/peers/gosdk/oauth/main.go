//go:build sdk_v1_8_0

// Command oauth is a client of the official Go SDK with its OAuth handler:
//
//	oauth [VERSION] --targets FILE
//
// It takes the same file and prints the same lines as peers/node/oauth-client.mjs.
// With a version it offers that one in a handshake; without, it probes for the
// stateless revision first.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

const (
	callback      = "http://127.0.0.1:9/callback"
	stepTimeout   = 20 * time.Second
	mostRedirects = 5
)

type target struct {
	Label string   `json:"label"`
	URL   string   `json:"url"`
	Steps []string `json:"steps"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	version := ""
	if len(args) == 3 {
		version, args = args[0], args[1:]
	}
	if len(args) != 2 || args[0] != "--targets" {
		return errors.New("usage: oauth [VERSION] --targets FILE")
	}
	data, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	var targets []target
	if err := json.Unmarshal(data, &targets); err != nil {
		return err
	}
	for _, t := range targets {
		(&visit{target: t, version: version}).run()
	}
	return nil
}

type visit struct {
	target
	version string
	logins  atomic.Int32
	session *mcp.ClientSession
}

// run makes the steps; after one that failed there is nothing to go on with.
func (v *visit) run() {
	failed := ""
	for _, step := range v.Steps {
		err := fmt.Errorf("not tried after %s", failed)
		if failed == "" {
			err = v.step(step)
		}
		report := map[string]any{"label": v.Label, "step": step, "ok": err == nil}
		if err != nil {
			report["error"] = err.Error()
			if failed == "" {
				failed = step
			}
		}
		line, _ := json.Marshal(report) //nolint:errchkjson // it holds texts
		fmt.Println(string(line))
	}
	if v.session != nil {
		if err := v.session.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "close:", err)
		}
	}
}

func (v *visit) step(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), stepTimeout)
	defer cancel()
	before := v.logins.Load()
	switch name {
	case "connect":
		if err := v.connect(ctx); err != nil {
			return err
		}
	case "call":
		return v.call(ctx, "echo", map[string]any{"value": v.Label}, "echo "+v.Label)
	case "step-up":
		if err := v.call(ctx, "bigint", map[string]any{"digits": "1", "n": 1}, "digits=1 n=1"); err != nil {
			return err
		}
	default:
		return fmt.Errorf("this client has no step %q", name)
	}
	if got := v.logins.Load() - before; got != 1 {
		return fmt.Errorf("a person was asked %d times", got)
	}
	return nil
}

func (v *visit) connect(ctx context.Context) error {
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: v.Label, RedirectURIs: []string{callback}, TokenEndpointAuthMethod: "client_secret_post",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		AuthorizationCodeFetcher: v.logIn,
	})
	if err != nil {
		return err
	}
	var options *mcp.ClientSessionOptions
	if v.version != "" {
		options = &mcp.ClientSessionOptions{ProtocolVersion: v.version}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: v.Label, Version: "1.0.0"}, nil)
	v.session, err = client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: v.URL, OAuthHandler: handler}, options)
	return err
}

func (v *visit) call(ctx context.Context, tool string, args map[string]any, wanted string) error {
	result, err := v.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err
	}
	if len(result.Content) > 0 {
		if text, ok := result.Content[0].(*mcp.TextContent); ok && text.Text == wanted {
			return nil
		}
	}
	return fmt.Errorf("the tool %s returned something else than %q", tool, wanted)
}

// logIn is the browser of a person who is logged in already: it follows redirects
// until one leads to the client.
func (v *visit) logIn(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	v.logins.Add(1)
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	at := args.URL
	for range mostRedirects {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
		if err != nil {
			return nil, err
		}
		response, err := browser.Do(request)
		if err != nil {
			return nil, err
		}
		_ = response.Body.Close()
		to, err := response.Location()
		if err != nil {
			return nil, fmt.Errorf("the login page answers %d", response.StatusCode)
		}
		if strings.HasPrefix(to.String(), callback) {
			return answered(to.Query())
		}
		at = to.String()
	}
	return nil, errors.New("the login page redirects without an end")
}

func answered(query url.Values) (*auth.AuthorizationResult, error) {
	if query.Get("code") == "" {
		return nil, fmt.Errorf("the login ended with %s", query.Get("error"))
	}
	return &auth.AuthorizationResult{Code: query.Get("code"), State: query.Get("state"), Iss: query.Get("iss")}, nil
}
