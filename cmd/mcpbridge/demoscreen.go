package main

import (
	"os"
	"strconv"
)

// demoScreen is what the demo is read on.
type demoScreen struct {
	width  int
	colour bool
}

// usualWidth is taken where no terminal tells another.
const usualWidth = 80

// screen looks at what the process writes to. COLUMNS counts where that is no
// terminal, so that a pipe can ask for a width.
func screen(p process) demoScreen {
	s := demoScreen{width: usualWidth}
	if columns, _ := p.lookup("COLUMNS"); columns != "" {
		if n, err := strconv.Atoi(columns); err == nil && n > 0 {
			s.width = n
		}
	}
	f, ok := p.out.(*os.File)
	if !ok || !isTerminal(f) {
		return s
	}
	if n := terminalWidth(f); n > 0 {
		s.width = n
	}
	plain, _ := p.lookup("NO_COLOR")
	term, _ := p.lookup("TERM")
	s.colour = plain == "" && term != "dumb"
	return s
}
