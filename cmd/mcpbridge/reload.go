package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/configs"
)

// source is the file that a configuration came from, and is read from again.
type source struct {
	file string
	// server applies what flags say beside the file.
	server func(*configs.Server) error
	lookup func(string) (string, bool)
	files  []string // that flags name, to be watched too
}

func (s *source) load() (*configs.Loaded, error) {
	more := sumsOf(slices.Values(s.files)) // before they are read: a change meanwhile is seen then
	c, err := configs.Load(s.file, s.lookup, knownVersions(), s.server)
	if err != nil {
		return nil, err
	}
	maps.Copy(c.Files, more)
	return c, nil
}

// reload puts the file to work as it is now. New sessions get the new
// configuration, running ones keep theirs. One that is wrong changes nothing.
func (s *service) reload() {
	loaded, err := s.source.load()
	if err == nil {
		err = s.apply(loaded)
	}
	if err != nil {
		s.counts.reloads.WithLabelValues("failed").Inc()
		for _, one := range problems(wordedAsLines(err)) {
			s.log.Error().Str("cause", one.Error()).Msg("the configuration was not reloaded; the one before stays at work")
		}
		return
	}
	s.counts.reloads.WithLabelValues("done").Inc()
	s.counts.loaded.SetToCurrentTime()
}

// wordedAsLines takes the problems of a file apart.
func wordedAsLines(err error) error {
	var faults configs.Faults
	if !errors.As(err, &faults) {
		return err
	}
	all := make([]error, len(faults))
	for i, one := range faults {
		all[i] = one
	}
	return errors.Join(all...)
}

func (s *service) apply(loaded *configs.Loaded) error {
	was := s.gateway.config()
	if fixed := unchangeable(was.Server, loaded.Server); len(fixed) > 0 {
		return fmt.Errorf("%s: what stands here cannot change while the bridge runs; restart it", strings.Join(fixed, ", "))
	}
	secure := func() {}
	if s.endpoint != nil && s.endpoint.certificate != nil {
		now, err := s.endpoint.certificate.read(loaded.Server)
		if err != nil {
			return err
		}
		secure = func() { s.endpoint.certificate.now.Store(now) }
	}
	if err := exposure(written(s.endpoint.listener.Addr()), loaded.Config); err != nil {
		return err
	}
	commit, err := s.gateway.prepare(loaded.Config)
	if err != nil {
		return err
	}
	secure()
	commit()
	s.level.set(loaded.Server)
	s.files(loaded.Files)
	warn(s.log, loaded.Remarks)
	s.tellChange(was, loaded.Config)
	return nil
}

// unchangeable lists the keys that differ and are read at start only.
func unchangeable(was, now configs.Server) (keys []string) {
	for _, one := range []struct {
		key     string
		changed bool
	}{
		{"listen", was.Listen != now.Listen}, {"admin", was.Admin != now.Admin}, {"max_header", was.MaxHeader != now.MaxHeader},
		{"tls", was.Encrypted() != now.Encrypted()}, {"log.format", was.LogFormat != now.LogFormat},
	} {
		if one.changed {
			keys = append(keys, one.key)
		}
	}
	return keys
}

// tellChange says which routes a reload touched.
func (s *service) tellChange(was, now configs.Config) {
	before := map[string]configs.Route{}
	for _, r := range was.Routes {
		before[r.Name] = r
	}
	var added, changed, removed []string
	for _, r := range now.Routes {
		old, known := before[r.Name]
		switch {
		case !known:
			added = append(added, r.Name)
			s.announceRoute(r)
		case !old.Equal(r):
			changed = append(changed, r.Name)
		}
		delete(before, r.Name)
	}
	for name := range before {
		removed = append(removed, name)
	}
	slices.Sort(removed)
	s.log.Info().Strs("added", added).Strs("changed", changed).Strs("removed", removed).
		Msg("the configuration was reloaded; running sessions keep the one they began with")
}
