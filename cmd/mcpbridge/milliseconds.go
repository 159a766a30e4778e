package main

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// milliseconds is a flag that holds a duration as other bridges write it.
type milliseconds time.Duration

// Set implements pflag.Value.
func (m *milliseconds) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/int64(time.Millisecond) {
		return fmt.Errorf("%q is no number of milliseconds above zero; write one, as 60000 for a minute", text)
	}
	*m = milliseconds(time.Duration(n) * time.Millisecond)
	return nil
}

// String implements pflag.Value.
func (m *milliseconds) String() string {
	return strconv.FormatInt(time.Duration(*m).Milliseconds(), 10)
}

// Type implements pflag.Value.
func (m *milliseconds) Type() string { return "MS" }
