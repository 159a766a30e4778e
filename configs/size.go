package configs

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as 1048576, 1024KiB or 1MiB.
type Size int64

type unit struct {
	name  string
	bytes int64
}

// units lists the units, those that end like a shorter one first.
func units() []unit {
	return []unit{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
		{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1},
	}
}

// Set implements pflag.Value.
func (s *Size) Set(text string) error {
	number, factor := strings.TrimSpace(text), int64(1)
	for _, u := range units() {
		if digits, ok := strings.CutSuffix(number, u.name); ok {
			number, factor = strings.TrimSpace(digits), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case err != nil || n < 0:
		return fmt.Errorf("%q is not a size; write it as 64MiB", text)
	case n > math.MaxInt64/factor:
		return errors.New("the size is too large")
	}
	*s = Size(n * factor)
	return nil
}

// String implements pflag.Value.
func (s *Size) String() string {
	for _, u := range []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n := int64(*s); n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type implements pflag.Value.
func (s *Size) Type() string { return "SIZE" }
