package main

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpbridge/mcpbridge/configs"
)

// fullDisk is a file on a disk without room.
type fullDisk struct{ *record }

func (f fullDisk) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "serving") {
		return f.record.Write(line)
	}
	return 0, errors.Join(syscall.ENOSPC)
}

// A log that cannot be written costs no call, and is counted.
func TestLogOnAFullDisk(t *testing.T) {
	s := newSurroundings(nil)
	p := s.process()
	p.err = fullDisk{s.err}
	code := make(chan int, 1)
	go func() {
		code <- run([]string{"serve", upstream(t).URL + "/mcp", "--port", "0", "--admin", "127.0.0.1:0"}, p)
	}()
	line := s.err.await(t, `"serving"`)
	c := &client{t: t, endpoint: between(line, `"endpoint":"`)}
	if status, answer := c.initialize("2024-11-05"); status != 200 {
		t.Errorf("initialize: %d %s", status, answer)
	}
	if _, answer := c.post(callTool); !strings.Contains(answer, `"result"`) {
		t.Errorf("a call: %s", answer)
	}
	_, numbers := fetch(t, between(line, `"admin":"`)+"metrics")
	if strings.Contains(numbers, "mcpbridge_log_lines_lost_total 0") || !strings.Contains(numbers, "mcpbridge_log_lines_lost_total ") {
		t.Errorf("lost lines are not counted:\n%s", numbers)
	}
	s.stop <- syscall.SIGTERM
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
}

// between returns what follows a mark up to the next quote.
func between(line, mark string) string {
	_, rest, _ := strings.Cut(line, mark)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

func TestLogLevels(t *testing.T) {
	for level, want := range map[string]string{"debug": "diwe", "info": "iwe", "warn": "we", "error": "e", "none": ""} {
		s := newSurroundings(nil)
		log, l := newLog(configs.Server{LogLevel: level, LogFormat: configs.LogJSON}, s.process())
		log.Debug().Msg("d")
		log.Info().Msg("i")
		log.Warn().Msg("w")
		log.Error().Msg("e")
		got := ""
		for line := range strings.Lines(s.err.String()) {
			got += between(line, `"message":"`)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", level, got, want)
		}
		l.set(configs.Server{LogLevel: "error"})
		log.Warn().Msg("x")
		if strings.Contains(s.err.String(), "x") {
			t.Errorf("%s: a level that was changed does not count", level)
		}
	}
}
