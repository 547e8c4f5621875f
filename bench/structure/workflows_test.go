package structure

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A workflow names the actions of others by commit, which nobody can move, with the release in a comment.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, used := range regexp.MustCompile(`(?m)\buses: (.*)$`).FindAllSubmatch(text, -1) {
			if !pinned.Match(used[1]) {
				t.Errorf("%s: uses %s, want OWNER/NAME@COMMIT # vRELEASE", filepath.Base(file), used[1])
			}
		}
	}
}
