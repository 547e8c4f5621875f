package disk_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

var long = flag.Bool("long", false, "kill more processes, and damage more bytes")

// The test binary is also the process that is killed: with this variable set it runs one of
// children on the journal in the directory that the other names.
const (
	childEnv = "HUSHGRAD_JOURNAL_CHILD"
	dirEnv   = "HUSHGRAD_JOURNAL_DIR"
	lifeEnv  = "HUSHGRAD_JOURNAL_LIFE"
)

// limitFiles bounds the size of files of this process, where the system can.
var limitFiles func(bytes uint64) error

var children = map[string]func(dir, life string) error{
	"holder":  holder,
	"writer":  writer,
	"limited": limited,
	"rotator": rotator,
}

func TestMain(m *testing.M) {
	child, ok := children[os.Getenv(childEnv)]
	if !ok {
		_ = flag.Set("test.parallel", "8") // parallel tests wait for the disk. A value on the command line is read later
		os.Exit(m.Run())
	}
	if err := child(os.Getenv(dirEnv), os.Getenv(lifeEnv)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

// start runs a child and returns its standard output and error.
func start(t *testing.T, child, dir, life string) (*exec.Cmd, *bufio.Reader, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+child, dirEnv+"="+dir, lifeEnv+"="+life)
	stderr := new(bytes.Buffer)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewReader(out), stderr
}

// small are options for tests: little is written beside what is tested.
func small() disk.Options {
	return disk.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

func open(t *testing.T, dir string, opts disk.Options) *disk.Journal {
	t.Helper()
	j, err := disk.Open(dir, opts)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func fresh(t *testing.T) (*disk.Journal, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "journal")
	return open(t, dir, small()), dir
}

// put commits one pair.
func put(j journal.Journal, key string, value []byte) error {
	var b journal.Batch
	b.Put([]byte(key), value)
	return j.Commit(&b)
}

// remove commits a deletion of all keys with a prefix.
func remove(j journal.Journal, prefix string) error {
	var b journal.Batch
	b.Delete([]byte(prefix), journal.After([]byte(prefix)))
	return j.Commit(&b)
}

// read returns all pairs whose keys begin with prefix.
func read(j journal.Journal, prefix string) (map[string]string, error) {
	out := map[string]string{}
	for p, err := range j.Scan([]byte(prefix), journal.After([]byte(prefix))) {
		if err != nil {
			return nil, err
		}
		out[string(p.Key)] = string(p.Value)
	}
	return out, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
