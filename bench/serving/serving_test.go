package serving

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// newBench returns the state of a run with real processes and short windows.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{work: t.TempDir(), tokens: 64, sealed: 200, replayed: 6400, servers: map[string]*server{}}
	b.window, b.kills = time.Millisecond, 2
	var err error
	if b.binary, err = Build(t.Context(), b.work); err != nil {
		t.Fatal(err)
	}
	if b.peer, err = buildPeer(t.Context(), b.work, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := b.prepare(experiment.Env{Seed: 1, Jobs: 2}); err != nil {
		t.Fatal(err)
	}
	return b
}

// long runs what compiles and measures other programs.
var long = flag.Bool("long", false, "do every measurement once, with real processes")

func TestOnRealProcesses(t *testing.T) {
	if !*long {
		t.Skip("runs with -long: builds and measures two programs")
	}
	b := newBench(t)
	defer func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	}()
	t.Run("every measurement", func(sub *testing.T) { measureAll(t.Context(), sub, b) })
	t.Run("reports that are not counted", func(sub *testing.T) { notCounted(t.Context(), sub, b) })
	t.Run("every measurement of an issuer", func(sub *testing.T) { issuesAll(t.Context(), sub, b) })
	t.Run("tokens that are not given", func(sub *testing.T) { notGiven(t.Context(), sub, b) })
}

// Every rate of the table comes from reports that the server says it has counted, and from a
// process whose time can be read.
func measureAll(ctx context.Context, t *testing.T, b *bench) {
	all := b.measurements()
	for _, m := range all {
		for range 2 {
			values, err := m.measure(ctx)
			if err != nil {
				t.Fatalf("%s, %s: %v", m.what, m.setting, err)
			}
			if values[0] <= 0 {
				t.Errorf("%s, %s: %v", m.what, m.setting, values)
			}
			m.values = append(m.values, values)
		}
	}
	d, err := b.killed(ctx, experiment.Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if d.reports != 1000 || d.again != 50 || d != damageOf(d.values()) {
		t.Errorf("%+v, and %+v from its values", d, damageOf(d.values()))
	}
	r := report(all, d, nil)
	if last := r.Verdicts[len(r.Verdicts)-1]; !last.Holds {
		t.Errorf("%s: %s", last.Claim, last.Detail)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	if peak, err := b.servers[inMemory].PeakBytes(); err != nil || peak < 1<<20 {
		t.Errorf("the server's largest memory is %g bytes, %v", peak, err)
	}
}

// A server that counts fewer reports than were sent is an error and no rate.
func notCounted(ctx context.Context, t *testing.T, b *bench) {
	s, err := b.server(ctx, inMemory)
	if err != nil {
		t.Fatal(err)
	}
	l := *b.wide
	l.size++ // the server finds no whole number of reports in a message
	if _, err := (traffic{load: &l, reports: 64, clients: 2}).measure(ctx, s, time.Millisecond); err == nil {
		t.Error("no error for reports of the wrong size")
	}
	few := traffic{load: b.wide, reports: 64, clients: 3}
	r, err := s.open(ctx, few)
	if err != nil {
		t.Fatal(err)
	}
	s.drops = true // so that a receipt of bytes is expected, which is a larger number
	if _, err := few.send(ctx, s, r, time.Millisecond); err == nil || !strings.Contains(err.Error(), "were counted") {
		t.Errorf("fewer reports were counted: got error %v", err)
	}
	s.drops = false
}

// An issuer that refuses a client is an error and no rate: here one of two has the other's secret.
func notGiven(ctx context.Context, t *testing.T, b *bench) {
	few, dir := issuing{2, 1}, t.TempDir()
	bearers := filepath.Join(dir, "bearers")
	secrets, err := few.admit(bearers)
	if err != nil {
		t.Fatal(err)
	}
	operator, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(ctx, b.binary, "--role", "issuer", "--data", filepath.Join(dir, "journal"), "--bearers", bearers, "--operator", operator)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}()
	requests, err := few.requests(ctx, operator)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := few.ask(ctx, p, []string{secrets[0], secrets[0]}, requests); err == nil {
		t.Errorf("one client got two tokens, %+v", got)
	}
}

func TestSpread(t *testing.T) {
	m := measurement{aim: 3, values: [][]float64{{5, 1}, {2, 3}, {4, 2}, {3, 9}}}
	if got := m.spread(0); got != (spread{3.5, 2, 5}) {
		t.Errorf("%+v", got)
	}
	if got := m.spread(1); got != (spread{2.5, 1, 9}) {
		t.Errorf("%+v", got)
	}
	if !m.holds() {
		t.Error("3.5 is not at least 3")
	}
	if m.atMost = true; m.holds() {
		t.Error("3.5 is at most 3")
	}
}

// The picture has what clients send by message size, and what a shuffler does.
func TestThePictureHasSealedReports(t *testing.T) {
	b := &bench{wide: &load{sparsity: 64, epsilon: 5}, narrow: &load{sparsity: 8, epsilon: 1}, tokens: 2048, sealed: 16384, issuer: &issuer{}}
	all := b.measurements()
	for i, m := range all {
		m.values = [][]float64{{float64(i + 1), 1, 1}}
	}
	shown := map[string][]float64{}
	for _, s := range report(all, damage{}, nil).Plot.Panels[0].Series {
		shown[s.Name] = s.X
	}
	for name, sizes := range map[string][]float64{
		"journal on disk, s = 64": {64, 4096}, "journal in memory, s = 8": {1, 64, 4096},
		"journal on disk, sealed, s = 64": {4096}, "journal on disk, sealed with token, s = 64": {2048},
	} {
		if !slices.Equal(shown[name], sizes) {
			t.Errorf("%s: messages of %v reports, want %v; there are %v", name, shown[name], sizes, shown)
		}
	}
}

func TestNumbersOfVerdictsArePlain(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.9664: "0.966", 512: "512", 7157.2: "7160", 999_600: "1000000", 630_600: "631000", 1e6: "1000000", 2e6: "2000000"} {
		if got := plain(v); got != want {
			t.Errorf("%g is written %s, want %s", v, got, want)
		}
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args  []string
		param string // of the error; "" for any other one
	}{
		{[]string{"--window=-1s"}, "--window"}, {[]string{"--window=1h"}, "--window"}, {[]string{"--kills=-1"}, "--kills"}, {[]string{"--kills=1000000"}, "--kills"}, {[]string{"--dir=/nowhere/at/all"}, ""},
	} {
		f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		run := Experiments()[0].Bind(f)
		if err := command.Parse(f, c.args); err != nil {
			t.Fatal(err)
		}
		_, err := run(t.Context(), experiment.Env{Jobs: 1})
		var wrong *fl.ParamError
		if c.param != "" && (!errors.As(err, &wrong) || wrong.Param != c.param) || c.param == "" && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}

// A run that is interrupted ends soon and leaves nothing behind.
func TestAnInterruptEndsTheRun(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(time.Second, stop)
	s := setting{dir: dir, window: time.Minute}
	if _, err := s.run(ctx, experiment.Env{Seed: 1, Jobs: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
