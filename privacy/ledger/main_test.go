package ledger_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

var long = flag.Bool("long", false, "kill 500 processes and damage 1500 files, in place of 24 and 75")

// The test binary is also the process that is killed: with this variable set it runs one of
// children on the ledger in the file that the variable names.
const (
	childEnv = "HUSHGRAD_LEDGER_CHILD"
	fileEnv  = "HUSHGRAD_LEDGER_FILE"
	seedEnv  = "HUSHGRAD_LEDGER_SEED"
)

var children = map[string]func(path string, seed uint64) error{
	"worker": worker,
	"holder": holder,
}

func TestMain(m *testing.M) {
	child, ok := children[os.Getenv(childEnv)]
	if !ok {
		os.Exit(m.Run())
	}
	seed, err := strconv.ParseUint(os.Getenv(seedEnv), 10, 64)
	if err == nil {
		err = child(os.Getenv(fileEnv), seed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// start runs a child and returns its standard output.
func start(t *testing.T, child, path string, seed uint64) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+child, fileEnv+"="+path, seedEnv+"="+strconv.FormatUint(seed, 10))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewReader(out)
}

// holder keeps the ledger open until it is killed.
func holder(path string, _ uint64) error {
	l, err := ledger.Open(path, ledger.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Println("open")
	time.Sleep(time.Minute)
	return nil
}

const purpose = "keyboard"

func digest(n uint64) (d [32]byte) {
	binary.BigEndian.PutUint64(d[:], n)
	d[31] = 1
	return d
}

// charge is a local report of round n at ε.
func charge(n uint64, epsilon float64) ledger.Charge {
	return ledger.Charge{
		Purpose: purpose, Round: digest(n), RoundID: fmt.Sprint("r", n), Mechanism: "coco",
		Guarantee: fl.Guarantee{Trust: fl.Local, Epsilon: epsilon, Relation: fl.ReplaceOne},
	}
}

func limit(epsilon float64) ledger.Budget {
	return ledger.Budget{Epsilon: epsilon, Relation: fl.ReplaceOne}
}

// fresh returns a new ledger with a budget for purpose, and its file.
func fresh(t *testing.T, b ledger.Budget, opts ledger.Options) (*ledger.Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	l := reopen(t, path, opts)
	if err := l.SetBudget(purpose, b); err != nil {
		t.Fatal(err)
	}
	return l, path
}

func reopen(t *testing.T, path string, opts ledger.Options) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func reserve(t *testing.T, l *ledger.Ledger, c ledger.Charge) ledger.ID {
	t.Helper()
	id, err := l.Reserve(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func entries(t *testing.T, l *ledger.Ledger) []ledger.Entry {
	t.Helper()
	es, err := l.Entries(purpose)
	if err != nil {
		t.Fatal(err)
	}
	return es
}

func spent(t *testing.T, l *ledger.Ledger) float64 {
	t.Helper()
	b, err := l.Spent(purpose)
	if err != nil {
		t.Fatal(err)
	}
	return b.Epsilon
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError checks that err wraps target and, if param is not empty, a *fl.ParamError for it.
func wantError(t *testing.T, err, target error, param string) {
	t.Helper()
	if err == nil || target != nil && !errors.Is(err, target) {
		t.Errorf("got error %v, want %v", err, target)
		return
	}
	var p *fl.ParamError
	if param != "" && (!errors.As(err, &p) || p.Param != param) {
		t.Errorf("got error %v, want one for the parameter %s", err, param)
	}
}

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

func random(seed uint64) *rand.Rand {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	return rand.New(rand.NewChaCha8(key))
}
