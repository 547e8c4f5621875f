package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pip gets the package from where this program came from.
func TestThePackageComesFromWhereTheProgramDoes(t *testing.T) {
	for _, c := range []struct{ source, version, want string }{
		{"/a/b", "", "hushgrad @ file:///a/b/python"},
		{"", "v1.2.3", "hushgrad==1.2.3"},
		{"", "v0.0.0-20260102030405-0123456789ab", "hushgrad @ git+https://github.com/hushgrad/hushgrad@0123456789ab#subdirectory=python"},
		{"", "", "hushgrad"},
	} {
		if got := requirement(c.source, c.version); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	t.Chdir(t.TempDir())
	release = "1.2.3"
	t.Cleanup(func() { release = "" })
	if text := do(t, "new", "--lang", "python", "--venv=false", "a"); !strings.HasSuffix(text, "cd a && "+toInstall+" && "+inEnvironment("python")+" train.py\n") {
		t.Errorf("printed %q", text)
	}
	if text, err := os.ReadFile("a/requirements.txt"); err != nil || string(text) != "hushgrad==1.2.3\npytest\n" {
		t.Errorf("%v: %s", err, text)
	}
	if _, err := os.Stat("a/.venv"); err == nil {
		t.Error("an environment that nobody asked for")
	}
}

// Without Python, and without a network, the files are there, and the error says what to type.
func TestAnEnvironmentThatFailsSaysWhatToType(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PIP_NO_INDEX", "1") // stands for a machine without a network: pip finds nothing
	release = "1.2.3"
	t.Cleanup(func() { release = "" })
	fails := func(dir string, code int) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if got := call(t.Context(), []string{"new", "--lang", "python", dir}, &stdout, &stderr); got != code || stdout.Len() > 0 {
			t.Errorf("exit code %d, want %d, %q", got, code, stdout.String())
		}
		if _, err := os.Stat(filepath.Join(dir, "train.py")); err != nil || !strings.HasSuffix(stderr.String(), "type: cd "+dir+" && "+toInstall+"\n") {
			t.Errorf("%v, %s", err, stderr.String())
		}
		return stderr.String()
	}
	if python, err := exec.LookPath("python3"); *long && err == nil && exec.CommandContext(t.Context(), python, "-c", "import ensurepip").Run() == nil {
		if said := fails("offline", 1); !strings.Contains(said, "hushgrad==1.2.3") { // by pip
			t.Errorf("%s", said)
		}
	}
	t.Setenv("PATH", t.TempDir())
	fails("pythonless", 2)
}
