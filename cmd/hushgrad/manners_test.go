package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// The first screen fits a terminal of 80 x 24 with the line that was typed and the next prompt.
func TestTheFirstScreenFits(t *testing.T) {
	var asked, wrong, said bytes.Buffer
	if code := call(t.Context(), []string{"help"}, &asked, &said); code != 0 || said.Len() > 0 {
		t.Errorf("help: exit code %d, %q", code, said.String())
	}
	if code := call(t.Context(), nil, &said, &wrong); code != 2 || said.Len() > 0 || !strings.HasPrefix(wrong.String(), asked.String()) || !strings.HasSuffix(wrong.String(), "\nhushgrad: command: got \"\", rule: is required\n") {
		t.Errorf("no command: exit code %d, %q and %q", code, said.String(), wrong.String())
	}
	if lines := strings.Count(asked.String(), "\n"); lines > 22 {
		t.Errorf("%d lines", lines)
	}
}

// every calls visit with each command that can be called.
func every(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, child := range c.Commands() {
		every(child, visit)
	}
}

// Help is no wider than 80 columns, apart from a long path that is a default, which has a line of its own. It has
// flags with two dashes, and each flag says what it is for.
func TestHelpFitsTheTerminal(t *testing.T) {
	pages := 0
	every(newRoot(), func(c *cobra.Command) {
		pages++
		var page bytes.Buffer
		printHelp(&page, c)
		for line := range strings.Lines(page.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && len(strings.Fields(line)) > 1 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
	})
	if pages < 25 {
		t.Errorf("%d pages", pages)
	}
}

func TestNearMissesAreSuggested(t *testing.T) {
	for line, want := range map[string]string{
		"srve":                         `hushgrad: command: got "srve", rule: must be one of demo, new, certify, serve, shuffle, `,
		"agregate":                     "(did you mean aggregate?)\n",
		"serve --dashbord x":           `hushgrad serve: flags: got "--dashbord", rule: must be a flag of the command (did you mean --dashboard?), see hushgrad serve --help` + "\n",
		"serve kyes":                   `hushgrad serve: arguments: got "kyes", rule: only flags are allowed (did you mean key or keys?), see hushgrad serve --help` + "\n",
		"account compose --epsilom 1":  "(did you mean --epsilon?)",
		"account plam":                 `hushgrad account: question: got "plam", rule: must be one of amplify, compose, plan, statement (did you mean plan?)` + "\n",
		"account compose --tls 1":      "must be a flag of the command, see",
		"help serv":                    "(did you mean serve?)",
		"plan":                         "(did you mean account plan?)\n",
		"help key":                     "(did you mean serve key, shuffle key, issue key, relay key or log key?)\n",
		"help round lst":               `hushgrad help: command: got "lst", rule: must not be given: hushgrad round has no commands of its own` + "\n",
		"completion bsh":               `hushgrad completion: shell: got "bsh", rule: must be one of bash, zsh, fish, powershell (did you mean bash`,
		"account compose --epsilon -1": "epsilon: got -1, rule: must be in",
		"exit-codes now":               `hushgrad exit-codes: arguments: got "now"`,
	} {
		var stdout, stderr bytes.Buffer
		if code := call(t.Context(), strings.Fields(line), &stdout, &stderr); code != 2 || stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d, printed %q and %q, want %q", line, code, stdout.String(), stderr.String(), want)
		}
	}
}

// Completion knows commands, flags and values.
func TestCompletion(t *testing.T) {
	for line, want := range map[string][]string{
		"ser":                   {"serve\trun the gRPC parameter server"},
		"serve --da":            {"--data\t", "--dashboard\taddress for a page"},
		"serve --listen x --da": {"--data\t"},
		"rounds w":              {"watch\t"},
		"help acc":              {"account\t"},
		"version -o ":           {"text\n", "json\n"},
		"version --output j":    {"json\n"},
	} {
		words := strings.Split(line, " ")
		var stdout, stderr bytes.Buffer
		if code := call(t.Context(), append([]string{cobra.ShellCompRequestCmd}, words...), &stdout, &stderr); code != 0 {
			t.Errorf("%s: exit code %d: %s", line, code, stderr.String())
		}
		for _, one := range want {
			if !strings.Contains("\n"+stdout.String(), "\n"+one) || strings.Contains(stdout.String(), "`") {
				t.Errorf("%s: %q is not in %q", line, one, stdout.String())
			}
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var stdout, stderr bytes.Buffer
		if code := call(t.Context(), []string{"completion", shell}, &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), cobra.ShellCompRequestCmd) {
			t.Errorf("%s: exit code %d: %s", shell, code, stderr.String())
		}
	}
}

// The version is the first line, as it always was, and all of it is there.
func TestVersion(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}} {
		var stdout, stderr bytes.Buffer
		code := call(t.Context(), args, &stdout, &stderr)
		lines := strings.Split(stdout.String(), "\n")
		if code != 0 || len(lines) != 5 || !strings.HasPrefix(lines[0], "hushgrad ") || !strings.HasPrefix(lines[1], "commit ") || !strings.HasPrefix(lines[2], "date ") || lines[3] != "go       "+runtime.Version() {
			t.Errorf("%v: exit code %d, printed %q and %q", args, code, stdout.String(), stderr.String())
		}
	}
}

// There is a page for each command, and its flags have two dashes.
func TestManualPages(t *testing.T) {
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := call(t.Context(), []string{"man", dir}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	files := strings.Fields(stdout.String())
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(page, []byte(`\fB--`)) || !bytes.HasPrefix(page, []byte(".nh\n.TH")) {
			t.Errorf("%s: %v: %.200s", file, err, page)
		}
	}
	encode, err := os.ReadFile(filepath.Join(dir, "hushgrad-encode.1"))
	if err != nil || len(files) < 25 || !bytes.Contains(encode, []byte(`\fB--max-epsilon\fP`)) {
		t.Errorf("%d pages, %v", len(files), err)
	}
	if code := call(t.Context(), []string{"man", filepath.Join(dir, "absent")}, &stdout, &stderr); code != 2 {
		t.Errorf("a directory that is not there: exit code %d", code)
	}
}
