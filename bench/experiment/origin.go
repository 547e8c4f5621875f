package experiment

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Origin says where a result comes from: how a reader makes it again, and what it was made
// on.
type Origin struct {
	Command string    `json:"command"` // does the same run again
	Commit  string    `json:"commit"`  // of the module; "unknown" outside a checkout, with "+changes" when files differ
	Go      string    `json:"go"`      // version of the toolchain
	Machine string    `json:"machine"` // processor, number of cores, system
	Date    time.Time `json:"date"`
}

// Here returns the origin of a result that this process is about to write.
func Here(ctx context.Context, command string) Origin {
	return Origin{
		Command: command,
		Commit:  commit(ctx),
		Go:      runtime.Version(),
		Machine: machine(),
		Date:    time.Now().UTC().Truncate(time.Second),
	}
}

// commit returns what the binary was built from. A binary of go run does not hold it, so
// that the checkout is asked.
func commit(ctx context.Context) string {
	revision, changed := "", false
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.modified":
				changed = s.Value == "true"
			}
		}
	}
	if revision == "" {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
		if err != nil {
			return "unknown"
		}
		state, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output()
		revision, changed = strings.TrimSpace(string(head)), err != nil || len(state) > 0
	}
	if changed {
		return revision + "+changes"
	}
	return revision
}

// machine describes the processor where the system says what it is.
func machine() string {
	model := runtime.GOARCH
	if file, err := os.Open("/proc/cpuinfo"); err == nil {
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return strings.Join([]string{model, plural(runtime.NumCPU(), "core"), runtime.GOOS}, ", ")
}
