package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
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
	s.watched.watcher = w
	s.files(s.loaded.Files)
	wg.Go(func() {
		defer w.Close() //nolint:errcheck // it is over
		s.watched.run(ctx, changes)
	})
	return changes
}

// files sets the files whose change matters.
func (s *service) files(files []string) { s.watched.set(files) }

// watched are the files of a configuration.
type watched struct {
	watcher *fsnotify.Watcher

	mu    sync.Mutex
	sums  map[string]string // what each held when the configuration was read
	files []string
}

func (w *watched) set(files []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files, w.sums = files, sumsOf(files)
	if w.watcher == nil {
		return
	}
	for _, file := range files {
		_ = w.watcher.Add(filepath.Dir(file)) // then only SIGHUP tells of it
	}
}

// sumsOf reads what files hold; what cannot be read is empty.
func sumsOf(files []string) map[string]string {
	sums := map[string]string{}
	for _, file := range files {
		text, _ := os.ReadFile(file)
		sums[file] = string(text)
	}
	return sums
}

// changed reports whether any file differs from what was read.
func (w *watched) changed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := sumsOf(w.files)
	for file, sum := range w.sums {
		if now[file] != sum {
			w.sums = now // what is wrong with them is told once
			return true
		}
	}
	return false
}

func (w *watched) run(ctx context.Context, changes chan<- struct{}) {
	quiet := time.NewTimer(0)
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-w.watcher.Events:
			if !open {
				return
			}
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
