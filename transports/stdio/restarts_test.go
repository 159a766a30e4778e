package stdio

import (
	"errors"
	"testing"
	"time"
)

// A command that dies again and again rests longer and longer (field report 101).
func TestRestartsPause(t *testing.T) {
	var r restarts
	now := time.Unix(1e9, 0)
	for i, want := range []time.Duration{0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60} {
		want *= time.Second
		if err := r.allowed("x", now.Add(want)); err != nil {
			t.Errorf("after %d deaths and %s: %v", i, want, err)
		}
		var resting *Resting
		if err := r.allowed("x", now.Add(want-1)); want > 0 && (!errors.As(err, &resting) || !resting.Until.Equal(now.Add(want))) {
			t.Errorf("after %d deaths and less than %s: %v", i, want, err)
		}
		now = now.Add(want)
		r.died(now, now.Add(time.Second), nil)
		now = now.Add(time.Second)
	}
	r.died(now.Add(-steady), now, nil) // it was up for long
	if err := r.allowed("x", now); err != nil {
		t.Errorf("after a long life: %v", err)
	}
	r.died(now, now, nil)
	r.worked()
	if err := r.allowed("x", now); err != nil {
		t.Errorf("after a success: %v", err)
	}
}

// TestRestartsCountAFaultOnce lets many children die of what was wrong before
// any of them told.
func TestRestartsCountAFaultOnce(t *testing.T) {
	var r restarts
	now := time.Unix(1e9, 0)
	for i := range 50 {
		r.died(now, now.Add(time.Duration(i+1)*time.Millisecond), &Ended{Command: "x"})
	}
	if err := r.allowed("x", now.Add(time.Second)); err != nil {
		t.Errorf("a restart is not immediate: %v", err)
	}
	if r.failing(now.Add(time.Second)) == nil || r.failing(now.Add(2*restartMax)) != nil {
		t.Error("a failed start is forgotten at the wrong time")
	}
}
