package cluster_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Tests that look inside package server/jetstream are there, and skip what needs a broker. Here they get a broker, and
// none of them may skip.
func TestFromWithin(t *testing.T) {
	program, err := compile("within", "./server/jetstream", "test", "-c", "-vet=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel() // it mostly waits
	tests := exec.CommandContext(t.Context(), program, "--test.v", "--test.parallel", "8", "--broker", startBroker(t, "127.0.0.1:0"))
	tests.Dir = filepath.Join(root, "server", "jetstream")
	out, err := tests.CombinedOutput()
	passed := regexp.MustCompile(`(?m)^--- PASS: Test`).FindAll(out, -1)
	if err != nil || len(passed) < 25 || strings.Contains(string(out), "--- SKIP") {
		t.Errorf("%v, %d tests passed:\n%s", err, len(passed), out)
	}
}
