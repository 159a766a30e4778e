package bridge_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// calls makes calls until the session is gone, each of which must be answered.
func (w *worker) calls(begun chan<- struct{}) error {
	for n := range 10000 {
		id := strconv.Itoa(n)
		got, err := w.try(http.MethodPost, toolCall(id, "t", id))
		if n == 2 {
			begun <- struct{}{}
		}
		switch {
		case err != nil:
			return err
		case got.status == http.StatusNotFound:
			return nil
		case got.status != http.StatusOK || got.body != echoed(id, id) && !strings.Contains(got.body, `"id":`+id+`,"error":`):
			return fmt.Errorf("call %s is answered %d %q", id, got.status, got.body)
		}
	}
	return fmt.Errorf("the session does not end")
}

// Sessions that end in full traffic leave no call unanswered.
func TestEndInFullTraffic(t *testing.T) {
	for name, end := range map[string]func(r *rig, c *client) error{
		"DELETE": func(_ *rig, c *client) error { _, err := c.try(http.MethodDelete, ""); return err },
		"Close":  func(r *rig, _ *client) error { return r.close(patience) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			const sessions, callers = 10, 3
			begun, done := make(chan struct{}, sessions*callers), make(chan error)
			var clients []*client
			for range sessions {
				c := r.open(v4, `{}`)
				clients = append(clients, c)
				for range callers {
					go func() { done <- (&worker{client: c}).calls(begun) }()
				}
			}
			for range sessions * callers {
				<-begun
			}
			for _, c := range clients {
				if err := end(r, c); err != nil {
					t.Error(err)
				}
			}
			for range sessions * callers {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		})
	}
}
