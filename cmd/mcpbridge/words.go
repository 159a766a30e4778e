package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode"
)

// splitWords splits a command line as a shell would split plain words: blanks
// separate, quotes group, a backslash takes the next character as it is,
// except on Windows, where it is part of paths. Nothing is expanded; what only
// a shell could do is refused instead of being handed to the program.
func splitWords(line string) ([]string, error) {
	s := splitter{escapes: runtime.GOOS != "windows"}
	for _, r := range line {
		if err := s.take(r); err != nil {
			return nil, err
		}
	}
	switch {
	case s.escaped:
		return nil, errors.New("it ends in a backslash")
	case s.quote != 0:
		return nil, fmt.Errorf("the quote %c is not closed", s.quote)
	}
	s.end()
	return s.words, nil
}

type splitter struct {
	escapes bool // a backslash has a meaning
	words   []string
	word    strings.Builder
	begun   bool // there is a word, perhaps an empty one
	quote   rune // the open quote, or 0
	escaped bool // the last character was a backslash that counts
}

func (s *splitter) take(r rune) error {
	switch {
	case s.escaped:
		s.escape(r)
	case s.quote != 0:
		s.quoted(r)
	case r == '\\' && s.escapes:
		s.escaped, s.begun = true, true
	case r == '"', r == '\'':
		s.quote, s.begun = r, true
	case unicode.IsSpace(r):
		s.end()
	case strings.ContainsRune("|&;<>()`$", r):
		return fmt.Errorf("%c has a meaning only to a shell, and none is used; quote it, or write sh -c '...'", r)
	default:
		s.add(r)
	}
	return nil
}

func (s *splitter) quoted(r rune) {
	switch {
	case r == s.quote:
		s.quote = 0
	case r == '\\' && s.quote == '"' && s.escapes:
		s.escaped = true
	default:
		s.add(r)
	}
}

// escape adds what follows a backslash. Between double quotes it only takes
// away the meaning of a few.
func (s *splitter) escape(r rune) {
	s.escaped = false
	if s.quote == '"' && !strings.ContainsRune("\\\"$`", r) {
		s.add('\\')
	}
	s.add(r)
}

func (s *splitter) add(r rune) {
	s.word.WriteRune(r)
	s.begun = true
}

func (s *splitter) end() {
	if s.begun {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.begun = false
}
