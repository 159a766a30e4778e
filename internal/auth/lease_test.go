package auth

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := func(d time.Duration) Identity {
			return Identity{Kind: JWT, Issuer: "i", Subject: "s", until: time.Now().Add(d)}
		}
		ctx, lease := NewLease(t.Context(), until(time.Minute))
		if LeaseFrom(ctx) != lease || LeaseFrom(t.Context()) != nil {
			t.Error("the context does not carry the lease")
		}
		if lease.Renew(Identity{Kind: JWT, Issuer: "i", Subject: "other"}) {
			t.Error("another principal renewed it")
		}
		if !lease.Renew(until(30*time.Second)) || !lease.Renew(until(2*time.Minute)) {
			t.Error("the principal did not renew it")
		}
		time.Sleep(2*time.Minute - time.Nanosecond)
		if ctx.Err() != nil {
			t.Fatal("it ended too early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), ErrExpired) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		if lease.Renew(until(time.Minute)) {
			t.Error("it was renewed after its end")
		}
		lease.Close()
	})
}

func TestLeaseWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := Identity{Kind: Static, Name: "n"}
		ctx, lease := NewLease(t.Context(), id)
		time.Sleep(1000 * time.Hour)
		if ctx.Err() != nil || !lease.Renew(id) {
			t.Error("it ended")
		}
		lease.Close()
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Errorf("cause %v", context.Cause(ctx))
		}

		// A credential without end takes the end away.
		ctx, lease = NewLease(t.Context(), Identity{Kind: Static, Name: "n", until: time.Now().Add(time.Minute)})
		if !lease.Renew(id) {
			t.Error("it was not renewed")
		}
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Error("it ended")
		}
		lease.Close()

		ctx, lease = NewLease(t.Context(), Identity{Kind: Static, Name: "n", until: time.Now().Add(-time.Minute)})
		<-ctx.Done()
		lease.Close()
	})
}
