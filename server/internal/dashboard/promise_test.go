package dashboard

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// kindOf completes a round as a server does.
func kindOf(t *testing.T, r fl.Round, change func(*fl.Round), count int) overview.Kind {
	t.Helper()
	if change != nil {
		change(&r)
	}
	r.PublicSeed = [32]byte{1}
	r, _, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return overview.Kind{Round: r, Count: count}
}

// promised is what a dashboard says of a server with one round of each kind that is open, when all is computed.
func promised(t *testing.T, c Config, kinds ...overview.Kind) State {
	t.Helper()
	o, want := overview.Overview{Kinds: kinds}, 0
	for i, k := range kinds {
		o.Rounds = append(o.Rounds, overview.Round{Round: k.Round, Kind: i})
		want += k.Count
	}
	d := New(&source{o: o}, c)
	go d.Run(t.Context())
	return until(t, d, "promises", func(s State) bool {
		return s.Together.Composed == want || s.Together.Unknown != ""
	})
}

// text is a promise as one string.
func (p *Promise) text() string {
	var all []string
	for _, w := range p.Words {
		all = append(append(all, w.About+":"), w.Text...)
	}
	return strings.Join(append(all, p.Notes...), " ")
}

func epsilon(t *testing.T, b *Budget) float64 {
	t.Helper()
	if b == nil {
		t.Fatal("nothing is promised")
	}
	x, err := strconv.ParseFloat(b.Epsilon, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// The figures of equal rounds are package plan's, rounded up, and so are the words.
func TestPromisesAreThoseOfThePlan(t *testing.T) {
	t.Parallel()
	k := kindOf(t, cocoRound("r"), nil, 3)
	s := promised(t, Config{Delta: 1e-5}, k)
	m, err := fl.Open(k.Round)
	if err != nil {
		t.Fatal(err)
	}
	spending, err := plan.NewSpending(m, 100, 100, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	for rounds, got := range map[int]*Promise{1: s.Rounds[0].Promise, 3: s.Together.Promise} {
		want, err := spending.Promise(t.Context(), rounds)
		if err != nil {
			t.Fatal(err)
		}
		central := epsilon(t, got.Central)
		if central < *want.Central || central > *want.Central*1.001 || epsilon(t, got.Local) != float64(2*rounds) || got.Central.Delta != "1e-05" {
			t.Errorf("%d rounds: %+v and %+v, want %v", rounds, got.Local, got.Central, want)
		}
		if words := want.Words(); len(got.Words) != len(words) || len(words) != 2 {
			t.Errorf("%d rounds: %+v, want %+v", rounds, got.Words, words)
			continue
		}
		for i, words := range want.Words() {
			if shown := got.Words[i]; shown.About != words.About || !slices.Equal(shown.Text, words.Text) {
				t.Errorf("%d rounds: %+v, want %+v", rounds, shown, words)
			}
		}
		if !strings.Contains(got.text(), "The central ε does not hold against it.") {
			t.Errorf("no shuffler, and no word of it: %s", got.text())
		}
	}
}

// A round of two servers has no local ε, and its central one is against either server, in one round and in all.
func TestAPromiseOfTwoServersIsAgainstOneOfThem(t *testing.T) {
	t.Parallel()
	s := promised(t, Config{Delta: 1e-5}, kindOf(t, fl.Round{
		ID: "r", Mechanism: hdsum.SharesName, Dim: 8, Scale: 1, Epsilon: 1, Delta: 1e-6, MinReports: 100, Shuffler: "shuffler.example", SealKey: []byte{1},
	}, nil, 2))
	for what, got := range map[string]*Promise{"one round": s.Rounds[0].Promise, "all rounds": s.Together.Promise} {
		if got == nil || got.Local != nil || got.Central == nil || got.Central.Against != "against either server alone" || !strings.Contains(got.text(), "This assumes that one of the two servers is honest") {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// Different rounds cost at least each of them, and at most the sum.
func TestDifferentRoundsAreComposed(t *testing.T) {
	t.Parallel()
	small := func(r *fl.Round) { r.Epsilon = 1 }
	a, b := kindOf(t, cocoRound("a"), nil, 2), kindOf(t, cocoRound("b"), small, 3)
	both := promised(t, Config{}, a, b).Together.Promise
	one, other := promised(t, Config{}, a).Together.Promise, promised(t, Config{}, b).Together.Promise
	if epsilon(t, both.Local) != 2*2+3*1 {
		t.Errorf("local %+v", both.Local)
	}
	x, y, z := epsilon(t, one.Central), epsilon(t, other.Central), epsilon(t, both.Central)
	if !(z > max(x, y) && z < x+y+1) {
		t.Errorf("central %v of %v and %v", z, x, y)
	}
	if !strings.Contains(both.text(), "The rounds differ.") {
		t.Error(both.text())
	}
}

// A round without privacy leaves nothing of the promise of the others.
func TestARoundWithoutPrivacyEndsThePromise(t *testing.T) {
	t.Parallel()
	none := kindOf(t, fl.Round{ID: "none", Mechanism: baseline.None, Dim: 4, Scale: 1, Epsilon: math.Inf(1), MinReports: 1}, nil, 1)
	for _, kinds := range [][]overview.Kind{{none}, {kindOf(t, cocoRound("r"), nil, 5), none}} {
		s := promised(t, Config{}, kinds...)
		p := s.Together.Promise
		if p == nil || p.Local != nil || p.Central != nil || !strings.Contains(p.text(), "none: the server sees every gradient") {
			t.Errorf("%+v", s.Together)
		}
	}
}

// What cannot be computed is said, and not left out.
func TestWhatIsUnknownIsSaid(t *testing.T) {
	t.Parallel()
	k := kindOf(t, cocoRound("r"), nil, 1)
	d := New(&source{o: overview.Overview{Kinds: []overview.Kind{k}, Unknown: 4}}, Config{})
	go d.Run(t.Context())
	s := until(t, d, "unknown rounds", func(s State) bool { return s.Together.Unknown != "" })
	if s.Together.Promise != nil || !strings.Contains(s.Together.Unknown, "4 earlier rounds") || s.Together.Rounds != 5 {
		t.Errorf("%+v", s.Together)
	}
	foreign := k
	foreign.Round.Mechanism = "of-a-newer-server"
	if s := promised(t, Config{}, k, foreign); s.Together.Promise != nil || s.Together.Unknown == "" || !strings.Contains(s.Rounds[1].Promise.text(), "could not be computed") || s.Rounds[0].Promise.Central == nil {
		t.Errorf("an unknown mechanism: %+v, %+v", s.Together, s.Rounds[1].Promise)
	}
	void := promised(t, Config{Void: "the seed repeats the noise"}, k)
	if void.Void == "" || void.Together.Unknown != "the seed repeats the noise" || void.Rounds[0].Promise.Local != nil || void.Rounds[0].Promise.Central != nil {
		t.Errorf("%+v, %+v", void.Together, void.Rounds[0].Promise)
	}
}

// fragile is a mechanism of somebody else's: CoCo, whose curve panics below the local ε.
type fragile struct{ fl.Mechanism }

func (f fragile) Open(r fl.Round) (fl.Mechanism, error) {
	r.Mechanism = "coco"
	m, err := fl.Open(r)
	return fragile{m}, err
}

func (f fragile) Shuffled() fl.Amplification {
	return fragileCurve{f.Mechanism.(fl.Amplifier).Shuffled(), f.Guarantee().Epsilon}
}

type fragileCurve struct {
	fl.Amplification
	local float64
}

func (f fragileCurve) Delta(n int, epsilon float64) (float64, error) {
	if epsilon < f.local {
		panic("a mistake")
	}
	return f.Amplification.Delta(n, epsilon)
}

func init() { fl.Register("fragile", fragile{}) }

// A mechanism that panics when its rounds are composed leaves the promise of one round, and the program.
func TestAPanicOfAMechanismIsSaid(t *testing.T) {
	t.Parallel()
	k := kindOf(t, cocoRound("r"), nil, 3)
	k.Round.Mechanism = "fragile"
	other := kindOf(t, cocoRound("r"), nil, 1)
	for _, kinds := range [][]overview.Kind{{k}, {k, other}} {
		s := promised(t, Config{}, kinds...)
		if s.Rounds[0].Promise.Central == nil || s.Together.Promise != nil || !strings.Contains(s.Together.Unknown, "panicked") {
			t.Errorf("%d kinds: %+v, together %+v", len(kinds), s.Rounds[0].Promise, s.Together)
		}
	}
}

// A round of one client has its local promise, and takes the central one from all rounds together.
func TestARoundOfOneClientHasNoCentralPromise(t *testing.T) {
	t.Parallel()
	alone := kindOf(t, cocoRound("r"), func(r *fl.Round) { r.MinReports = 1 }, 2)
	s := promised(t, Config{}, kindOf(t, cocoRound("r"), nil, 1), alone)
	one, all := s.Rounds[1].Promise, s.Together.Promise
	if epsilon(t, one.Local) != 2 || one.Central != nil || !strings.Contains(one.text(), "min_reports is 1") || epsilon(t, all.Local) != 6 || all.Central != nil {
		t.Errorf("%+v, together %+v", one, all)
	}
}

// What a round of records promises is about one record, and a site's own noise needs no shuffler.
func TestRoundsOfRecordsSaySo(t *testing.T) {
	t.Parallel()
	const words = "each ε is for one record, and not for all records of a client"
	site := kindOf(t, cocoRound("r"), func(r *fl.Round) {
		r.Mechanism, r.Delta, r.Params = hdsum.SiteName, 1e-6, fl.Params{fl.ParamRecords: fl.Int(5000)}
	}, 3)
	s := promised(t, Config{}, site)
	one, all := s.Rounds[0].Promise, s.Together.Promise
	if epsilon(t, one.Local) != 2 || one.Central != nil || !strings.Contains(one.text(), words) || strings.Contains(one.text(), "shuffle") {
		t.Errorf("one round: %+v, %s", one, one.text())
	}
	if got := epsilon(t, all.Local); !(got > 2 && got < 6) || all.Central != nil || !strings.Contains(all.text(), words) {
		t.Errorf("three rounds: ε = %g, %s", got, all.text())
	}
	if other := promised(t, Config{}, kindOf(t, cocoRound("r"), nil, 1)); strings.Contains(other.Rounds[0].Promise.text()+other.Together.Promise.text(), words) {
		t.Error("a round about clients is about records")
	}
}

// With a shuffler the notes name it, and the clients that it counts on.
func TestNotesNameTheShuffler(t *testing.T) {
	t.Parallel()
	k := kindOf(t, cocoRound("r"), nil, 1)
	spending := newKind(t.Context(), k.Round, 1e-6)
	for tokens, want := range map[bool]string{
		true:  "The shuffler is mix.example. The central ε counts on it, and on 100 honest clients in the round.",
		false: "The round asks for no tokens: one party can send many reports, and those hide nobody.",
	} {
		r := k.Round
		r.Shuffler = "mix.example"
		if tokens {
			r.IssuerKey = []byte{1}
		}
		if text := spending.inWords(r).text(); !strings.Contains(text, want) || strings.Contains(text, "no tokens") == tokens || strings.Contains(text, "does not hold") {
			t.Errorf("tokens %t: %s", tokens, text)
		}
	}
}
