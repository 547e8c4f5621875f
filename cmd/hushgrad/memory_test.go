package main

import (
	"bytes"
	"errors"
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
	"github.com/hushgrad/hushgrad/server/client"
)

// confined is a cgroup with a memory limit, "" where the machine lets nobody make one.
func confined(t *testing.T, limit int64) string {
	t.Helper()
	for root, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		dir := filepath.Join(root, fmt.Sprintf("hushgrad-test-%d-%d", os.Getpid(), rand.Uint32()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		if setLimit(filepath.Join(dir, file), limit) == nil {
			t.Cleanup(func() {
				for range 100 { // it has the process until that has ended
					if os.Remove(dir) == nil {
						return
					}
					time.Sleep(50 * time.Millisecond)
				}
				t.Errorf("%s is left", dir)
			})
			return dir
		}
		_ = os.Remove(dir)
	}
	t.Logf("no cgroup could be made: the largest resident memory alone is looked at")
	return ""
}

// setLimit writes to a file that the kernel has made with its directory. Where there is none, the directory is no cgroup.
func setLimit(path string, limit int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatInt(limit, 10))
	return errors.Join(err, f.Close())
}

// program is this binary, which is hushgrad where the environment says so. With -long it is hushgrad built as a
// release is: with cgo the journal's memory is outside the runtime's limit.
func program(t *testing.T) string {
	t.Helper()
	if !*long {
		return os.Args[0]
	}
	built := filepath.Join(t.TempDir(), "hushgrad")
	build := exec.Command("go", "build", "-trimpath", "-tags=grpcnotrace,noman", "-o", built, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return built
}

// startConfined runs hushgrad serve in a process of its own that has no more memory than limit, where the
// machine lets the test see to that, and returns it with its operator.
func startConfined(t *testing.T, limit int64, args ...string) (*process, *client.Operator) {
	t.Helper()
	if testing.Short() {
		t.Skip("the race detector takes several times the memory")
	}
	p := &process{clients: freeAddress(t), operator: freeAddress(t)}
	group := confined(t, limit)
	args = append([]string{program(t), "serve", "--listen", p.clients, "--operator-listen", p.operator, "--data", filepath.Join(t.TempDir(), "data")}, args...)
	environment := append(os.Environ(), asCommand+"=1")
	if group == "" {
		environment = append(environment, fmt.Sprintf("GOMEMLIMIT=%d", heapLimit(uint64(limit))))
	} else {
		args = append([]string{"sh", "-c", `echo $$ >"$0"/cgroup.procs && exec "$@"`, group}, args...)
	}
	p.command = exec.Command(args[0], args[1:]...)
	p.command.Env = environment
	var out log
	p.command.Stdout, p.command.Stderr = &out, &out
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		_ = p.command.Wait()
		if t.Failed() {
			t.Logf("the server said:\n%.4000s", out.String())
		}
	})
	operator := client.NewOperator(dialServe(t, p.operator))
	untilAvailable(t, func() error {
		_, err := operator.Rounds(t.Context())
		return err
	})
	return p, operator
}

// wantMemory checks the largest resident memory so far, without the pages of the binary.
func (p *process) wantMemory(t *testing.T, limit int64) {
	t.Helper()
	if peak := p.peakMemory(t) - p.memory(t, "RssFile"); peak > limit {
		t.Errorf("the largest resident memory is %d MB, want at most %d MB", peak/1e6, limit/1e6)
	} else {
		t.Logf("the largest resident memory is %d MB, of %d MB", peak/1e6, limit/1e6)
	}
}

// A model costs memory once, however often one is published, also while a client reads a former one.
func TestPublicationsFitIntoMemory(t *testing.T) {
	t.Parallel()
	publications, size, limit := 5, 16<<20, int64(110e6)
	if *long {
		publications, size = 20, 512<<20
		limit = 512e6 + int64(1.2*float64(size))
	}
	p, operator := startConfined(t, limit)
	reader, err := client.New(dialServe(t, p.clients), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, size)
	rng := rand.NewChaCha8([32]byte{1})
	for n := range publications {
		_, _ = rng.Read(data[:1<<20])
		if version, err := operator.PutModel(t.Context(), "x", data); err != nil || version != uint64(n+1) {
			t.Fatalf("publication %d: version %d, %v", n+1, version, err)
		}
		if n%4 != 0 {
			continue
		}
		if m, err := reader.Model(t.Context()); err != nil || m.Version != uint64(n+1) || !bytes.Equal(m.Data, data) {
			t.Fatalf("model %d: %v", n+1, err)
		}
	}
	p.wantMemory(t, limit)
}

// A round that has ended keeps its description and no aggregator. The aggregator of mechanism none has 8 bytes for each
// coordinate, 48 MB in all rounds together; without them the server has at most about 110 MB, most of it outside of the
// runtime's heap.
func TestClosedRoundsFitIntoMemory(t *testing.T) {
	t.Parallel()
	rounds, limit := 24, int64(160e6)
	round := fl.Round{Mechanism: "none", Dim: 250_000, Scale: 0.5, Epsilon: math.Inf(1), MinReports: 1}
	if *long {
		rounds, limit = 100, 512e6
		round = fl.Round{Mechanism: "coco", Dim: 10_000_000, Scale: 0.5, Epsilon: 2, MinReports: 1, Params: fl.Params{"sparsity": fl.Int(4)}}
	}
	p, operator := startConfined(t, limit, "--keep-rounds", strconv.Itoa(rounds))
	c, err := client.New(dialServe(t, p.clients), client.Options{Policy: fl.Policy{MaxEpsilon: round.Epsilon}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range rounds {
		round.ID = fmt.Sprintf("r%d", n)
		if _, err := operator.OpenRound(t.Context(), round); err != nil {
			t.Fatal(err)
		}
		part, err := c.Join(t.Context(), round.ID)
		if err != nil {
			t.Fatal(err)
		}
		report, err := part.Mechanism().Encode(nil, make([]float64, round.Dim), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Submit(t.Context(), [][]byte{report}); err != nil {
			t.Fatal(err)
		}
		if err := operator.CloseRound(t.Context(), round.ID); err != nil {
			t.Fatal(err)
		}
	}
	p.wantMemory(t, limit)
}
