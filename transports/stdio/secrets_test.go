package stdio

import "testing"

func TestSecrets(t *testing.T) {
	spec := Command{Env: []string{"TOKEN=abcdef", "LONGER=abcdef-ghi", "SHORT=abc"}, Inherit: []string{"NAMED"}}.withDefaults()
	env := append([]string{"HOME=/home/me", "MY_API_KEY=key-of-mine", "PLAIN=plain text", "NAMED=by its name", "=C:=C:\\dir"}, spec.Env...)
	hide := spec.secrets(env)
	for in, want := range map[string]string{
		"abcdef":            "[$TOKEN]",
		"xabcdef-ghix":      "x[$LONGER]x",
		"abc":               "abc",
		"key-of-mine":       "[$MY_API_KEY]",
		"plain text":        "plain text",
		"it is by its name": "it is [$NAMED]",
		"/home/me/file":     "/home/me/file",
	} {
		if got := hide.Replace(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestCutVariable(t *testing.T) {
	for in, want := range map[string][2]string{
		"A=b=c": {"A", "b=c"}, "A=": {"A", ""}, "A": {"A", ""}, "": {"", ""}, "=C:=x": {"=C:", "x"},
	} {
		if name, value := cutVariable(in); name != want[0] || value != want[1] {
			t.Errorf("%q: %q %q", in, name, value)
		}
	}
}
