package peerkit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// noticeTimeout bounds the wait for a notification; on one machine it either
// comes at once or never.
const noticeTimeout = 2500 * time.Millisecond

// expect calls a tool and waits for the n notifications that the tool causes
// while the call is still open, then tells the tool to return.
func (v *visit) expect(ctx context.Context, tool, token string, n int, match func(Notification) bool) ([]Notification, error) {
	// Asking for the tools first keeps the two calls below from racing for it.
	if _, err := v.call(ctx, "echo", map[string]any{"value": "before"}, ""); err != nil {
		return nil, err
	}
	wait, stop := context.WithTimeout(ctx, noticeTimeout)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		err := v.callAndCheck(ctx, tool, token)
		if err != nil {
			stop() // there is nothing to wait for
		}
		ended <- err
	}()
	notes, waitErr := v.inbox.Wait(wait, n, match)
	if waitErr == nil {
		if _, err := v.call(ctx, "release", nil, ""); err != nil {
			return notes, err
		}
	}
	select {
	case err := <-ended:
		if err == nil && waitErr != nil {
			err = fmt.Errorf("%d of %d notifications came during %s", len(notes), n, tool)
		}
		return notes, err
	case <-ctx.Done():
		return notes, errors.New(tool + " did not return")
	}
}

func (v *visit) callAndCheck(ctx context.Context, tool, token string) error {
	got, err := v.call(ctx, tool, nil, token)
	if err == nil && got.IsError {
		err = fmt.Errorf("%s: %s", tool, got.Text)
	}
	return err
}
