package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server"
)

const deployDir = "../../docs/deploy"

// The example files of the deployment page are what the commands accept.
func TestTheExampleConfigurationsAreAccepted(t *testing.T) {
	if err := parse("serve", &serveFlags{}, "--config", filepath.Join(deployDir, "serve.toml")); err != nil {
		t.Error(err)
	}
	if err := parse("shuffle", &shuffleFlags{}, "--config", filepath.Join(deployDir, "shuffle.toml")); err != nil {
		t.Error(err)
	}
	if err := parse("issue", &issueFlags{}, "--config", filepath.Join(deployDir, "issue.toml")); err != nil {
		t.Error(err)
	}
}

// The issuer starts in the environment that the page sets for its operator, which has the variables of
// the issuer's commands. The same holds for every command that has commands of its own.
func TestRolesStartInTheEnvironmentOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "cat > /home/trainer/environment <<'END'\n")
	script, _, ended := strings.Cut(block, "\nEND\n")
	if !found || !ended {
		t.Fatal("the page has no environment")
	}
	shell := exec.Command(tool(t, "bash"), "-euc", script+"\nenv")
	shell.Env = []string{"HOME=/home/trainer", "PATH=" + os.Getenv("PATH")}
	out, err := shell.Output()
	if err != nil {
		t.Fatal(err)
	}
	set := 0
	for line := range strings.Lines(string(out)) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), "="); strings.HasPrefix(key, "HUSHGRAD_") {
			t.Setenv(key, value)
			set++
		}
	}
	if set < 10 {
		t.Fatalf("the page sets %d variables:\n%s", set, out)
	}
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	selfSigned(t, cert, key)
	_, line, err := server.NewBearer("alice")
	if err != nil {
		t.Fatal(err)
	}
	runIssue(t, "--tls-cert", cert, "--tls-key", key, "--bearer-file", writeFile(t, dir, "bearers", line+"\n"))
	run(t)

	parents := 0
	for _, parent := range newRoot().Commands() {
		if !parent.HasSubCommands() || parent.Flags().Lookup("config") == nil {
			continue
		}
		parents++
		for _, child := range parent.Commands() {
			t.Setenv(command.Variable(child.CommandPath(), "tls-cert"), "/home/trainer/tls/cert.pem")
		}
		t.Setenv(command.Variable(parent.CommandPath(), "slip"), "1")
		if err := configure(parent); err == nil || !strings.Contains(err.Error(), "_SLIP: ") {
			t.Errorf("%s: %v, want the slip alone to be refused", parent.CommandPath(), err)
		}
	}
	if parents < 2 {
		t.Errorf("%d commands have flags and commands of their own: serve and issue do", parents)
	}
}

// tool returns the path of a program, or skips the test.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err)
	}
	return path
}

// systemd understands every line of the units and finds them well guarded.
func TestTheUnitsAreValidAndGuarded(t *testing.T) {
	analyze := tool(t, "systemd-analyze")
	for _, name := range []string{"hushgrad-serve.service", "hushgrad-shuffle.service", "hushgrad-issue.service"} {
		text, err := os.ReadFile(filepath.Join(deployDir, name))
		if err != nil {
			t.Fatal(err)
		}
		// The binary is not installed here.
		unit := writeFile(t, t.TempDir(), name, strings.ReplaceAll(string(text), "ExecStart=hushgrad ", "ExecStart=/bin/true "))
		if out, err := exec.Command(analyze, "verify", unit).CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		if out, err := exec.Command(analyze, "security", "--offline=yes", "--threshold=20", unit).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
