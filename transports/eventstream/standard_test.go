package eventstream

import (
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	lineEnds = regexp.MustCompile("\r\n|\r|\n")
	digits   = regexp.MustCompile(`^[0-9]+$`)
)

// standard reads a whole stream as the standard words it (HTML, "Server-sent
// events", section 9.2.6): simple, slow, and apart from the reader.
func standard(text string) (events []Event) {
	text = strings.TrimPrefix(text, "\ufeff")
	lines := lineEnds.Split(text, -1)
	e, fields, data := Event{}, false, []string(nil)
	for _, line := range lines[:len(lines)-1] { // the last one has no end
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if fields {
				e.Data = []byte(strings.Join(data, "\n"))
				if e.Type == "" {
					e.Type = MessageType
				}
				events = append(events, e)
			}
			e, fields, data = Event{}, false, nil
			continue
		case name == "data":
			data = append(data, value)
		case name == "event":
			e.Type = value
		case name == "id" && !strings.Contains(value, "\x00"):
			e.ID, e.HasID = value, true
		case name == "retry":
			e.Retry = 0
			if ms, err := strconv.Atoi(value); err == nil && digits.MatchString(value) && ms <= 24*60*60*1000 {
				e.Retry = time.Duration(ms) * time.Millisecond
			}
		default:
			continue
		}
		fields = true
	}
	return events
}

// FuzzStandard: the reader finds what the standard says is there.
func FuzzStandard(f *testing.F) {
	f.Add("event: message\ndata: a\n\n")
	f.Add("\xef\xbb\xbfid: 7\r\nretry: 1500\r\ndata\r\rdata: b\n:c\ndata:  d\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		want := standard(in)
		got, err := readAll(t, strings.NewReader(in), len(in)+1)
		if err != io.EOF || !sameEvents(got, want) {
			t.Errorf("%q:\ngot  %+v, %v\nwant %+v", in, got, err, want)
		}
	})
}
