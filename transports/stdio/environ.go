package stdio

import (
	"runtime"
	"slices"
	"strings"
)

// harmless lists the variables that every child gets, LC_* beside them: what
// a program needs to find its files and to speak the user's language, and
// nothing that could be a credential.
func harmless() []string {
	if runtime.GOOS == "windows" {
		return []string{
			"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT",
			"PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "SYSTEMDRIVE",
			"SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
		}
	}
	return []string{"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
}

// environ chooses the child's variables from those of the bridge. The list is
// never nil, which would mean all.
func (c Command) environ(own []string) []string {
	env := make([]string, 0, len(own)+len(c.Env))
	safe := harmless()
	for _, variable := range own {
		name, _ := cutVariable(variable)
		if c.inherits(name) || !c.Withhold(name) && (c.InheritAll || isHarmless(name, safe)) {
			env = append(env, variable)
		}
	}
	return append(env, c.Env...) // of two with one name the last counts
}

func (c Command) inherits(name string) bool {
	return slices.ContainsFunc(c.Inherit, func(n string) bool { return sameName(n, name) })
}

func isHarmless(name string, safe []string) bool {
	return strings.HasPrefix(name, "LC_") || slices.ContainsFunc(safe, func(n string) bool { return sameName(n, name) })
}

func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// cutVariable splits NAME=VALUE. Windows has names that start with "=".
func cutVariable(variable string) (name, value string) {
	if i := strings.IndexByte(variable[min(1, len(variable)):], '='); i >= 0 {
		return variable[:i+1], variable[i+2:]
	}
	return variable, ""
}
