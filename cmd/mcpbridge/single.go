package main

import "github.com/mcpbridge/mcpbridge/configs"

// single is a configuration with one route, as flags say it.
type single struct {
	configs.Server
	configs.Route
}

func defaults() single { return single{configs.DefaultServer(), configs.DefaultRoute()} }

func (s single) config() configs.Config {
	return configs.Config{Server: s.Server, Routes: []configs.Route{s.Route}}
}
