//go:build linux

package powercut_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hushgrad/hushgrad/bench/powercut"
	"github.com/hushgrad/hushgrad/internal/durable/outage"
)

var (
	long = flag.Bool("long", false, "cut the power of the real programs, too")
	seed = flag.Uint64("seed", 1, "of what a disk forgets")
)

// mounted mounts the file system until the test ends.
func mounted(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	unmount, err := powercut.Mount(dir, *seed)
	if err != nil {
		t.Skipf("nobody here can mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unmount(); err != nil {
			t.Error(errors.Join(err, syscall.Unmount(dir, syscall.MNT_DETACH)))
		}
	})
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write writes a file, and syncs it or its directory.
func write(t *testing.T, path, text string, file, name bool) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, err)
	if file {
		must(t, f.Sync())
	}
	must(t, f.Close())
	if name {
		syncDir(t, filepath.Dir(path))
	}
}

func syncDir(t *testing.T, path string) {
	t.Helper()
	d, err := os.Open(path)
	must(t, err)
	must(t, errors.Join(d.Sync(), d.Close()))
}

func tell(t *testing.T, dir, what string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, "power"), []byte(what), 0o600))
}

// A disk that loses its power keeps what was synced. In 100 failures everything else is forgotten at some time, and is kept at some time:
// each with a chance of at least 1/4, so that one is never seen with a chance below 1e-11.
func TestADiskForgetsWhatWasNotSynced(t *testing.T) {
	dir := mounted(t)
	disk := filepath.Join(dir, "disk")
	must(t, os.Mkdir(disk, 0o700))
	const times = 100
	kept := map[string]int{}
	count := func(what string, is bool) {
		if is {
			kept[what]++
		}
	}
	much := strings.Repeat("long ", 1000)
	for range times {
		write(t, filepath.Join(disk, "synced"), "synced", true, true)
		write(t, filepath.Join(disk, "name"), much, false, true)
		write(t, filepath.Join(disk, "bytes"), "bytes", true, false)
		must(t, os.Mkdir(filepath.Join(disk, "new"), 0o700))
		write(t, filepath.Join(disk, "new", "in it"), "in it", true, true)
		must(t, os.Rename(filepath.Join(disk, "synced"), filepath.Join(disk, "renamed")))

		tell(t, dir, "cut disk")
		if _, err := os.ReadFile(filepath.Join(disk, "name")); !errors.Is(err, syscall.EIO) {
			t.Fatalf("a disk without power: %v", err)
		}
		tell(t, dir, "restore disk")
		read := func(names ...string) string {
			text, err := os.ReadFile(filepath.Join(append([]string{disk}, names...)...))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			return string(text)
		}
		if old, renamed := read("synced"), read("renamed"); old+renamed != "synced" {
			t.Fatalf("what was synced is %q, and renamed %q", old, renamed)
		}
		count("a rename", read("renamed") != "")
		count("bytes", read("name") == much)
		count("no bytes", read("name") == "")
		count("a name", read("bytes") == "bytes")
		count("a directory", read("new", "in it") == "in it")
		must(t, os.RemoveAll(filepath.Join(disk, "new")))
		for _, name := range []string{"synced", "name", "bytes", "renamed"} {
			_ = os.Remove(filepath.Join(disk, name))
		}
		syncDir(t, disk)
	}
	for _, what := range []string{"a rename", "bytes", "no bytes", "a name", "a directory"} {
		if n := kept[what]; n == 0 || n == times {
			t.Errorf("%s: kept at %d of %d failures", what, n, times)
		}
	}
	tell(t, dir, "order disk")
	for range 10 {
		must(t, os.MkdirAll(filepath.Join(disk, "new", "in it"), 0o700))
		write(t, filepath.Join(disk, "another"), "another", true, false)
		tell(t, dir, "cut disk")
		tell(t, dir, "restore disk")
		must(t, os.Remove(filepath.Join(disk, "new", "in it")))
		must(t, os.Remove(filepath.Join(disk, "new")))
		must(t, os.Remove(filepath.Join(disk, "another")))
	}
	tell(t, dir, "freeze disk")
	if err := os.WriteFile(filepath.Join(disk, "more"), nil, 0o600); !errors.Is(err, syscall.EROFS) {
		t.Errorf("a read-only disk: %v", err)
	}
	tell(t, dir, "thaw disk")
	must(t, os.WriteFile(filepath.Join(disk, "more"), nil, 0o600))
}

// A process that is started has nothing of the file system: with its connection to the kernel nobody could kill what waits for it.
func TestAStartedProcessHasNoConnection(t *testing.T) {
	mounted(t)
	text, err := exec.Command("ls", "-l", "/proc/self/fd").CombinedOutput()
	must(t, err)
	if strings.Contains(string(text), "/dev/fuse") {
		t.Errorf("it has: %s", text)
	}
}

// What the real programs have acknowledged is there when their power fails: of a server among clients, of a server and a shuffler, of
// hushgrad serve with a log, of a run that trains a model, of a ledger, of an issuer, and of brokers and the servers that share their rounds.
func TestProgramsKeepWhatTheyHaveAcknowledged(t *testing.T) {
	if !*long {
		t.Skip("with -long")
	}
	for name, args := range map[string][]string{
		"server":   {"./server", "-run", "TestAKilledServerLosesNothing|TestAServerWithAReadOnlyDiskEnds", "--kills", "40", "--clients", "20000"},
		"shuffler": {"./server/shuffler", "-run", "TestKilledRolesLoseNothing", "--kills", "30", "--clients", "3000"},
		"run":      {"./cmd/hushgrad", "-run", "TestAKilledRunEndsAtTheSameModel", "-long"},
		"program":  {"./cmd/hushgrad", "-run", "TestAKilledServersLogGoesOn", "-long"},
		"issuer":   {"./cmd/hushgrad", "-run", "TestAKilledIssuerKnowsWhoHasTokens", "-long"},
		"brokers":  {"./cmd/hushgrad-broker/cluster", "-run", "TestAKilledClusterLosesNothing", "-long", "--kills", "6"},
		"ledger":   {"./privacy/ledger", "-run", "TestKilledProcesses", "-long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait half of the time
			dir := mounted(t)
			command := exec.CommandContext(t.Context(), "go", append([]string{"test", "-vet=off", "-count=1", "-timeout", "30m"}, args...)...)
			command.Env = append(os.Environ(), outage.Place+"="+dir)
			command.Dir = filepath.Join("..", "..")
			if text, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}
