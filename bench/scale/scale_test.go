package scale

import (
	"context"
	"errors"
	"flag"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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
		name, _, _ := strings.Cut(arg, "=")
		var p *fl.ParamError
		if _, err := parsed(t, arg).run(t.Context(), experiment.Env{}); !errors.As(err, &p) || p.Param != name {
			t.Errorf("%s: error %v", arg, err)
		}
	}
	for _, text := range []string{"", "0.5", "x", "1e16", "-1", "1e6,,2"} {
		if err := new(sizes).Set(text); err == nil {
			t.Errorf("--clients %q is accepted", text)
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

// A price has a part for each quantity.
func TestPricesAreSums(t *testing.T) {
	for want, p := range map[float64]prices{2: {coreHour: 1}, 3: {gigabyteIn: 1}, 4 * 24. / 730: {gigabyteMonth: 1}, 5: {coreHour: 1, gigabyteIn: 1}} {
		if got := p.of(7200, 3e9, 4e9); math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v: %g, want %g", p, got, want)
		}
	}
}

// sound is an outcome whose claims all hold.
func sound(p *population) *outcome {
	o := &outcome{population: p, tally: tally{sent: 800, resent: 60, duplicates: 60, late: 30}, refused: 30, counted: 800, noise: 1.05, predicted: 1, pullStdErr: 0.01}
	o.lies[0] = 8
	o.honest[0] = 792
	o.pull = o.expectedPull() + 4*o.pullStdErr
	return o
}

// Each claim is decided by what it is about: one that is broken fails alone.
func TestClaimsAreDecided(t *testing.T) {
	p := small(t, 1000)
	for what, c := range map[string]struct {
		broken int // the claim
		spoil  func(*outcome)
	}{
		"nothing":                    {-1, func(*outcome) {}},
		"a report too few":           {0, func(o *outcome) { o.counted-- }},
		"a report too many":          {0, func(o *outcome) { o.counted++ }},
		"a copy that was counted":    {0, func(o *outcome) { o.duplicates-- }},
		"a late report that counted": {1, func(o *outcome) { o.refused-- }},
		"a large error":              {2, func(o *outcome) { o.noise = 1.11 }},
		"a small error":              {2, func(o *outcome) { o.noise = 0.89 }},
		"a strong pull":              {3, func(o *outcome) { o.pull += 2 * o.pullStdErr }},
		"a weak pull":                {3, func(o *outcome) { o.pull -= 10 * o.pullStdErr }},
		"a long round":               {4, func(o *outcome) { o.seconds = withinHour }},
		"a long end":                 {4, func(o *outcome) { o.closing = withinHour }},
	} {
		o := sound(p)
		o.seconds, o.closing = 0.5, 0.5
		c.spoil(o)
		for i, v := range o.verdicts() {
			if !strings.HasPrefix(v.Claim, "1 000 clients: ") {
				t.Errorf("%s: the claim is %q", what, v.Claim)
			}
			if v.Holds != (i != c.broken) {
				t.Errorf("%s: %s: %t, %s", what, v.Claim, v.Holds, v.Detail)
			}
		}
	}
}

// A row has each number in its column.
func TestRowsHaveTheirColumns(t *testing.T) {
	p := small(t, 1000)
	p.prices = prices{coreHour: 3600}
	o := sound(p)
	o.seconds, o.server, o.devices, o.memory, o.bytes, o.journal, o.closing, o.dropped = 10, 4, 6, 50, 1600, 70, 8, 90
	got := map[string]any{}
	for i, v := range o.row() {
		got[columns[i]] = v
	}
	for name, want := range map[string]any{
		"clients": int64(1000), "simulated": true, "dim": 100, "sparsity": 4, "reports": 800., "seconds": 10., "reports_per_second": 80., "bytes_per_report": 2., "bytes": 1600.,
		"server_core_seconds": 4., "client_core_seconds": 6., "server_core_seconds_per_million": 5000., "client_core_seconds_per_million": 7500.,
		"peak_server_bytes": 50., "journal_bytes": 70., "closing_seconds": 8., "price": 4., "price_per_million": 5000.,
		"error": 1.05, "error_predicted": 1., "error_exact": o.exact(), "dropped": 90., "late_refused": 30., "sent_again": 60., "liars": 8.,
		"pull": o.pull, "pull_stderr": 0.01, "pull_expected": o.expectedPull(), "pull_bound": o.pullBound(), "price_core_hour": 3600.,
	} {
		if v, ok := got[name].(float64); ok {
			if w := want.(float64); math.Abs(v-w) > 1e-9*math.Abs(w) {
				t.Errorf("%s is %g, want %g", name, v, w)
			}
		} else if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}

// What is printed below the rows fits a terminal: three lines of at most 80 columns with the word "Note: " before them. A quick run
// adds one.
func TestNotesFitATerminal(t *testing.T) {
	s := parsed(t)
	s.batch = 4096
	p, err := newPopulation(s, 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	r := s.report([]*outcome{{population: p, tally: tally{sent: 900}}})
	if len(r.Notes) > 3 {
		t.Errorf("%d notes", len(r.Notes))
	}
	for _, note := range r.Notes {
		if columns := utf8.RuneCountInString("Note: " + note); columns > 80 || strings.Contains(note, "\n") {
			t.Errorf("a note of %d columns: %s", columns, note)
		}
	}
	if notes := strings.Join(r.Notes, " "); !strings.Contains(notes, "10 % drop out, 0.1 % lie. Messages: 1 % late, 5 % sent again") || !strings.Contains(notes, "docs/sizing.md") {
		t.Errorf("notes %q", r.Notes)
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
	server, err := serving.Start(t.Context(), binary, "--role", "server", "--data", data)
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
