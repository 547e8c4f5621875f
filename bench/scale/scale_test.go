package scale

import (
	"context"
	"errors"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/serving"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/client"
)

var long = flag.Bool("long", false, "simulate rounds, with a real server")

// parsed is an experiment with flags.
func parsed(t *testing.T, args ...string) *setting {
	t.Helper()
	s, f := &setting{}, pflag.NewFlagSet("scale", pflag.ContinueOnError)
	s.bind(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFlagErrors(t *testing.T) {
	for _, arg := range []string{"--dim=0", "--sparsity=0", "--batch=65537", "--dropout=1", "--late=-0.1", "--resend=2", "--lie=1", "--clients=2e9", "--epsilon=0", "--price-core-hour=-1"} {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		var p *fl.ParamError
		if _, err := parsed(t, arg).run(t.Context(), experiment.Env{}); !errors.As(err, &p) || p.Param != name {
			t.Errorf("%s: error %v", arg, err)
		}
	}
	for _, text := range []string{"", "0.5", "x", "1e16", "-1", "1e6,,2"} {
		if err := new(sizes).Set(text); err == nil {
			t.Errorf("-clients %q is accepted", text)
		}
	}
	s := sizes{}
	if err := s.Set("1e6,250"); err != nil || s.String() != "1e+06,250" || s[0] != 1_000_000 {
		t.Errorf("%v, error %v", s, err)
	}
}

// More clients cost in proportion, and the error falls with the root; beyond 10^9 reports there are
// several rounds.
func TestExtrapolation(t *testing.T) {
	p := small(t, 1000)
	p.prices = prices{coreHour: 3600, gigabyteIn: 1e9, gigabyteMonth: 0}
	o := &outcome{population: p, tally: tally{sent: 800, server: 4, devices: 2, bytes: 1600}}
	got := map[string]any{}
	for i, v := range o.extrapolated(4_000_000_000) {
		got[columns[i]] = v
	}
	if got["rounds"] != int64(4) || got["server_core_seconds"] != 4*4e6 || got["bytes"] != 1600*4e6 || got["price"] != (4+1600)*4e6 || got["reports"] != 3.2e9 || got["simulated"] != false || got["error"] != nil {
		t.Errorf("%v", got)
	}
	if v := got["error_exact"].(float64) * 2000 / o.exact(); v < 0.999999 || v > 1.000001 {
		t.Errorf("the error of 4·10^6 times as many reports is %v", got["error_exact"])
	}
}

// Rounds on a real server count what was sent in time, once; refuse what came late; and an
// interrupted size goes on with the journal it has.
func TestOnARealServer(t *testing.T) {
	if !*long {
		t.Skip("runs with -long: builds and runs a server")
	}
	dir := t.TempDir()
	args := []string{"--clients=20000", "--batch=64", "--dim=500", "--sparsity=8", "--late=0.1", "--resend=0.2", "--lie=0.01", "--dir=" + filepath.Join(dir, "journal")}
	checkpoint, err := experiment.OpenCheckpoint(filepath.Join(dir, "checkpoint"), "test")
	if err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context) (*experiment.Result, error) {
		return parsed(t, args...).run(ctx, experiment.Env{Seed: 1, Jobs: 2, Checkpoint: checkpoint})
	}
	r, err := run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	for _, v := range r.Verdicts {
		if !v.Holds {
			t.Errorf("%s: %s", v.Claim, v.Detail)
		}
	}
	if late, _ := r.Rows[0][slices.Index(columns, "late_refused")].(float64); late < 500 {
		t.Errorf("%.0f reports came late", late)
	}
	again, err := run(t.Context()) // from the checkpoint alone
	if err != nil || again.Rows[0][5] != r.Rows[0][5] || again.Rows[0][6] != r.Rows[0][6] {
		t.Errorf("again: %v, error %v, want %v", again.Rows[0], err, r.Rows[0])
	}
}

// When a part was sent and its end was not written down, it is sent again and counted once.
func TestAPartThatIsSentAgainIsCountedOnce(t *testing.T) {
	if !*long {
		t.Skip("runs with -long: builds and runs a server")
	}
	work := t.TempDir()
	args := []string{"--clients=5000", "--batch=64", "--dim=500", "--sparsity=8", "--dir=" + work, "--extrapolate=1e9"}
	s := parsed(t, args...)
	p, err := newPopulation(s, 1, 5000)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := serving.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data, _, err := s.journal("", 5000)
	if err != nil {
		t.Fatal(err)
	}
	server, err := serving.Start(t.Context(), binary, "-role", "server", "-data", data)
	if err != nil {
		t.Fatal(err)
	}
	err = p.open(t.Context(), client.NewOperator(server.Conns[0]))
	if err != nil {
		t.Fatal(err)
	}
	sent, err := p.send(t.Context(), server, 2, p.parts()[0])
	if err = errors.Join(err, server.Kill()); err != nil || sent.accepted != sent.sent {
		t.Fatalf("%+v, error %v", sent, err)
	}
	r, err := parsed(t, args...).run(t.Context(), experiment.Env{Seed: 1, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	duplicates, _ := r.Rows[0][slices.Index(columns, "sent_again")].(float64)
	if v := r.Verdicts[0]; !v.Holds || duplicates < sent.sent {
		t.Errorf("%s: %s; %.0f counted before, want at least %.0f", v.Claim, v.Detail, duplicates, sent.sent)
	}
}
