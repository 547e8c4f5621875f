package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A release for linux/arm64, whose processor rounds products and sums in other ways, conforms. This machine's program judges it
// while QEMU runs it.
func TestAReleaseForARMConforms(t *testing.T) {
	if !*long {
		t.Skip("compiles hushgrad for another processor")
	}
	emulator, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		t.Skip("needs QEMU: apt-get install qemu-user-static")
	}
	program := filepath.Join(t.TempDir(), "hushgrad")
	if err := os.WriteFile(program, buildRelease(t, filepath.Join("..", ".."), "1.2.3", "GOOS=linux", "GOARCH=arm64"), 0o755); err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command(emulator, program, "version").Output()
	if err != nil || !strings.HasPrefix(string(version), "hushgrad 1.2.3\n") {
		t.Errorf("the program says of itself %q, %v", version, err)
	}
	var out, errs strings.Builder
	if code := call(t.Context(), []string{"verify", "conformance", "--", emulator, program, "verify", "conformance", "answer"}, &out, &errs); code != 0 {
		t.Errorf("exit code %d: %s\n%s", code, &out, &errs)
	}
}
