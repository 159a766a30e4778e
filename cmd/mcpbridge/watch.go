package main

import (
	"context"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/mcpbridge/mcpbridge/configs"
)

// settleTime is how long files must be quiet before they are read: who writes
// them does so in several steps.
const settleTime = 200 * time.Millisecond

// watch tells when a file of the configuration may have changed. Directories
// are watched, as files are often replaced, by way of links too.
func (s *service) watch(ctx context.Context, wg *sync.WaitGroup) <-chan struct{} {
	changes := make(chan struct{})
	if s.source == nil {
		return changes
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		s.log.Warn().Str("cause", err.Error()).Msg("the configuration is not watched for changes; send SIGHUP after each")
		return changes
	}
	s.watched.watcher, s.watched.look = w, make(chan struct{}, 1)
	s.files(s.loaded.Files)
	wg.Go(func() {
		defer w.Close() //nolint:errcheck // it is over
		s.watched.run(ctx, changes)
	})
	return changes
}

// files sets the files whose change matters, with what they held when they
// were read: one that has changed since is noticed at once.
func (s *service) files(files map[string]string) { s.watched.set(files) }

// watched are the files of a configuration.
type watched struct {
	watcher *fsnotify.Watcher
	look    chan struct{} // asks for a look at the files, without an event

	mu   sync.Mutex
	sums map[string]string // what each held when the configuration was read
}

func (w *watched) set(files map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sums = files
	if w.watcher == nil {
		return
	}
	for file := range files {
		_ = w.watcher.Add(filepath.Dir(file)) // then only SIGHUP tells of it
	}
	select {
	case w.look <- struct{}{}: // for what changed before it was watched
	default:
	}
}

// sumsOf reads what files hold; what cannot be read is empty.
func sumsOf(files iter.Seq[string]) map[string]string {
	sums := map[string]string{}
	for file := range files {
		text, _ := os.ReadFile(file)
		sums[file] = configs.Sum(text)
	}
	return sums
}

// changed reports whether any file differs from what was read.
func (w *watched) changed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := sumsOf(maps.Keys(w.sums))
	for file, sum := range w.sums {
		if now[file] != sum {
			w.sums = now // what is wrong with them is told once
			return true
		}
	}
	return false
}

func (w *watched) run(ctx context.Context, changes chan<- struct{}) {
	quiet := time.NewTimer(settleTime)
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-w.watcher.Events:
			if !open {
				return
			}
			quiet.Reset(settleTime)
		case <-w.look:
			quiet.Reset(settleTime)
		case <-w.watcher.Errors: // events were lost: look
			quiet.Reset(settleTime)
		case <-quiet.C:
			if !w.changed() {
				continue
			}
			select {
			case changes <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}
}
