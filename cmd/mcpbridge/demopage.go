package main

import (
	"strings"
	"unicode/utf8"
)

// demoPage lays out what the demo shows.
type demoPage struct {
	strings.Builder
	screen demoScreen
}

const (
	twoColumns = 100 // from this width on the two sides stand side by side
	maxWidth   = 140 // longer lines are hard to read
	minWidth   = 48
	margin     = 3
	stackLabel = 8 // width of "direct" and what follows
	divider    = " │ "
)

// style is an ANSI rendition.
type style string

const (
	plain style = ""
	bold  style = "1"
	dim   style = "2"
	red   style = "31"
	green style = "32"
)

func newDemoPage(s demoScreen) *demoPage {
	s.width = min(max(s.width, minWidth), maxWidth)
	return &demoPage{screen: s}
}

func (p *demoPage) paint(s style, text string) string {
	if !p.screen.colour || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// line writes parts as one line.
func (p *demoPage) line(parts ...string) {
	p.WriteString(strings.TrimRight(strings.Join(parts, ""), " ") + "\n")
}

func (p *demoPage) title(text string) {
	p.line()
	p.headline(text)
}

func (p *demoPage) headline(text string) {
	for _, one := range wrap(text, p.screen.width, margin) {
		p.line(p.paint(bold, one))
	}
}

// entry writes text behind a label; further lines hang below the text.
func (p *demoPage) entry(label, text string, s style) {
	for i, one := range wrap(text, p.screen.width-margin-len(label), 0) {
		if i > 0 {
			label = strings.Repeat(" ", len(label))
		}
		p.line(pad("", margin), p.paint(dim, label), p.paint(s, one))
	}
}

// exhibit writes one exhibit below its title.
func (p *demoPage) exhibit(title string, e demoExhibit) {
	p.title(title)
	e.bridged.good = e.bridged.good && len(e.unmet) == 0
	if p.screen.width >= twoColumns {
		p.sideBySide(e)
	} else {
		p.stacked("direct", e.direct)
		p.stacked("bridge", e.bridged)
	}
	p.entry(pad("why", stackLabel), e.why, dim)
	for _, what := range e.unmet {
		p.entry(pad("BROKEN", stackLabel), "expected: "+what, red)
	}
}

// columnHeads names the columns, where there are some.
func (p *demoPage) columnHeads() {
	if p.screen.width < twoColumns {
		return
	}
	w := p.columnWidth()
	p.line()
	p.line(pad("", margin), pad("  directly", w), divider, "  through the bridge")
	p.line(pad("", margin), p.paint(dim, strings.Repeat("─", w+1)+"┼"+strings.Repeat("─", w+1)))
}

func (p *demoPage) columnWidth() int {
	return (p.screen.width - margin - utf8.RuneCountInString(divider)) / 2
}

func (p *demoPage) sideBySide(e demoExhibit) {
	w := p.columnWidth()
	left, right := e.direct.wrapped(w-2), e.bridged.wrapped(w-2)
	for i := range max(len(left), len(right)) {
		p.line(pad("", margin), p.mark(e.direct, i), p.cell(left, i, w-2), p.paint(dim, divider), p.mark(e.bridged, i), p.cell(right, i, 0))
	}
}

func (p *demoPage) stacked(label string, s demoSide) {
	lines := s.wrapped(p.screen.width - margin - stackLabel - 2)
	for i := range lines {
		if i > 0 {
			label = ""
		}
		p.line(pad("", margin), p.paint(dim, pad(label, stackLabel)), p.mark(s, i), p.cell(lines, i, 0))
	}
}

// mark stands before the first line of a side.
func (p *demoPage) mark(s demoSide, line int) string {
	switch {
	case line > 0:
		return "  "
	case s.good:
		return p.paint(green, "✓ ")
	}
	return p.paint(red, "✗ ")
}

// demoCell is one line of a side.
type demoCell struct {
	text string
	look style
}

// remark starts what the demo says, as opposed to what came over the wire.
const remark = "→ "

func (s demoSide) wrapped(width int) []demoCell {
	var out []demoCell
	for _, one := range s.lines {
		look := plain
		if strings.HasPrefix(one, remark) {
			look = dim
		}
		for _, line := range wrap(one, width, 2) {
			out = append(out, demoCell{line, look})
		}
	}
	return out
}

// cell returns line i, empty beyond the last, at least width characters wide.
func (p *demoPage) cell(lines []demoCell, i, width int) string {
	if i >= len(lines) {
		return pad("", width)
	}
	return p.paint(lines[i].look, pad(lines[i].text, width))
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
