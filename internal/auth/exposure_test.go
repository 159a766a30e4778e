package auth

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestExposure(t *testing.T) {
	static, open, safe := Route{Name: "github", Static: true}, Route{Name: "docs"}, Route{Name: "search", Static: true, Auth: true}
	for listen, exposed := range map[string]bool{
		"127.0.0.1:8080": false, "127.9.9.9:1": false, "[::1]:8080": false, "[::ffff:127.0.0.1]:80": false,
		"localhost:8080": false, "LocalHost:8080": false, "unix:/run/x.sock": false,
		":8080": true, "0.0.0.0:8080": true, "[::]:8080": true, "10.0.0.1:8080": true, "localhost.example:80": true,
		"bridge.internal:80": true, "8080": true, "": true, "127.0.0.1": true,
	} {
		err := Exposure(listen, []Route{static, open, safe}, false)
		if (err != nil) != exposed {
			t.Errorf("%q: %v", listen, err)
		}
		if Exposure(listen, []Route{static}, true) != nil || Exposure(listen, []Route{open, safe}, false) != nil || Exposure(listen, nil, false) != nil {
			t.Errorf("%q: refused without need", listen)
		}
	}
	err := Exposure(":80", []Route{static, open, {Name: "b", Static: true}}, false)
	e, ok := errors.AsType[*Exposed](err)
	if !ok || e.Listen != ":80" || !slices.Equal(e.Routes, []string{`the route "github"`, `the route "b"`}) {
		t.Fatalf("%#v", err)
	}
	for _, word := range []string{":80", `"github", the route "b"`, "--allow-anonymous", "127.0.0.1"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not say %s", err, word)
		}
	}
}
