package main

import (
	"strings"
	"unicode/utf8"
)

// glue is a space at which no line is broken.
const glue = "\u00a0"

// wrap breaks text into lines of at most width characters, between words
// where it can. All lines but the first are indented by hang.
func wrap(text string, width, hang int) []string {
	var w wrapping
	w.width, w.hang = max(width, hang+8), hang
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			w.end()
		}
		for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ' ' }) {
			w.add(word)
		}
	}
	w.end()
	return w.lines
}

type wrapping struct {
	width, hang int
	lines       []string
	line        string
	filled      bool // the line holds a word
}

func (w *wrapping) end() {
	w.lines = append(w.lines, strings.ReplaceAll(w.line, glue, " "))
	w.line, w.filled = strings.Repeat(" ", w.hang), false
}

func (w *wrapping) room() int { return w.width - utf8.RuneCountInString(w.line) }

func (w *wrapping) add(word string) {
	need := utf8.RuneCountInString(word)
	if w.filled {
		if need+1 <= w.room() {
			w.line += " " + word
			return
		}
		w.end()
	}
	for utf8.RuneCountInString(word) > w.room() {
		runes := []rune(word)
		n := w.room()
		w.line += string(runes[:n])
		w.end()
		word = string(runes[n:])
	}
	w.line += word
	w.filled = true
}
