package privacy

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func buildClone(epsilon float64) (fl.Amplification, error) { return NewClone(epsilon) }

func buildBlanket(epsilon float64) (fl.Amplification, error) { return NewBlanket(epsilon, 4, 17) }

// The answer holds, and one a little larger does not.
func TestLocalForIsTheLargest(t *testing.T) {
	for name, build := range map[string]func(float64) (fl.Amplification, error){"clone": buildClone, "blanket": buildBlanket} {
		for _, c := range []struct {
			n             int
			delta, target float64
		}{{2, 1e-6, 0.5}, {100, 1e-6, 1e-3}, {100, 1e-6, 2}, {100, 1e-6, 5}, {1000, 1e-9, 0.1}, {10_000, 1e-6, 0.05}, {10_000, 1e-6, 1e-12}, {200_000, 1e-8, 0.5}} {
			if c.n > 1000 && c.target != 0.05 && !*Long {
				continue
			}
			local, err := LocalFor(t.Context(), build, c.n, c.delta, c.target)
			if err != nil {
				t.Fatal(err)
			}
			at, above := mustBuild(t, build, local), mustBuild(t, build, math.Min(maxEpsilon, local*(1+1e-5)))
			if got := mustEpsilon(t, at, c.n, c.delta); got > c.target {
				t.Errorf("%s %+v: local %v has central %v", name, c, local, got)
			}
			if got := mustEpsilon(t, above, c.n, c.delta); got <= c.target {
				t.Errorf("%s %+v: local %v is not the largest: central %v at 10^-5 above", name, c, local, got)
			}
			if local < c.target {
				t.Errorf("%s %+v: local %v below the target", name, c, local)
			}
		}
	}
}

func mustBuild(t *testing.T, build func(float64) (fl.Amplification, error), epsilon float64) fl.Amplification {
	t.Helper()
	a, err := build(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The recorded clone cells read backwards, with the margin and rounding of both ways.
func TestLocalForMatchesRecordedCells(t *testing.T) {
	for _, c := range readGolden(t).Cells {
		if c.Family != "generic" || c.N != 10_000 {
			continue
		}
		local, err := LocalFor(t.Context(), buildClone, c.N, c.Delta, c.Clone)
		if err != nil || math.Abs(local/c.Eps-1) > 1e-5 {
			t.Errorf("central %v: got %v, want %v, error %v", c.Clone, local, c.Eps, err)
		}
	}
}

func TestLocalForHasALimit(t *testing.T) {
	for _, target := range []float64{20, 1e300} {
		if got, err := LocalFor(t.Context(), buildClone, 100, 1e-6, target); got != 20 || err != nil {
			t.Errorf("target %v: got %v, %v", target, got, err)
		}
	}
	// So large a δ that every local ε will do.
	if got, err := LocalFor(t.Context(), buildClone, 100, 1-1e-12, 1); got != 20 || err != nil {
		t.Errorf("delta near 1: got %v, %v", got, err)
	}
	if got, err := LocalFor(t.Context(), buildClone, 100, 1e-6, 5e-324); !(got >= 5e-324) || err != nil {
		t.Errorf("smallest target: got %v, %v", got, err)
	}
}

// Slots that depend on ε make the central ε jump; the answer must still hold.
func TestLocalForWithChosenSlots(t *testing.T) {
	build := func(epsilon float64) (fl.Amplification, error) {
		return NewBlanket(epsilon, 4, int(4*math.Exp(epsilon))+7)
	}
	for _, target := range []float64{0.01, 0.28, 1} {
		if target == 0.01 && !*Long {
			continue
		}
		local, err := LocalFor(t.Context(), build, 10_000, 1e-6, target)
		if err != nil {
			t.Fatal(err)
		}
		if got := mustEpsilon(t, mustBuild(t, build, local), 10_000, 1e-6); got > target {
			t.Errorf("target %v: local %v has central %v", target, local, got)
		}
	}
}

// One failure of build, whenever it comes, is an error; all later calls succeed.
func TestLocalForReturnsErrorsOfBuild(t *testing.T) {
	refused := errors.New("refused")
	for _, fails := range []int{1, 2, 3, 5, 8} {
		calls := 0
		build := func(epsilon float64) (fl.Amplification, error) {
			if calls++; calls == fails {
				return nil, refused
			}
			return NewClone(epsilon)
		}
		if got, err := LocalFor(t.Context(), build, 1000, 1e-6, 0.2); got != 0 || !errors.Is(err, refused) {
			t.Errorf("call %d fails: got %v, %v", fails, got, err)
		}
		if calls > fails {
			t.Errorf("call %d fails: %d calls", fails, calls)
		}
	}
}

func TestClientsForIsTheSmallest(t *testing.T) {
	for _, c := range []struct {
		a              fl.Amplification
		epsilon, delta float64
	}{
		{mustBlanket(t, 1, 4, 17), 0.0335, 1e-6}, {mustBlanket(t, 1, 4, 17), 0.9, 1e-6},
		{mustClone(t, 1), 0.053, 1e-6}, {mustClone(t, 4), 0.02, 1e-9}, {mustClone(t, 0.5), 0.4, 0.01},
	} {
		n, err := ClientsFor(t.Context(), c.a, c.epsilon, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		if got := mustEpsilon(t, c.a, n, c.delta); got > c.epsilon {
			t.Errorf("%T %v: n = %d has central %v", c.a, c.epsilon, n, got)
		}
		if n == minClients {
			continue
		}
		if got := mustEpsilon(t, c.a, n-1, c.delta); got <= c.epsilon {
			t.Errorf("%T %v: n = %d is not the smallest: central %v at one less", c.a, c.epsilon, n, got)
		}
	}
}

// From the local ε on no shuffling is needed; below it, 10^9 clients can be too few.
func TestClientsForExtremes(t *testing.T) {
	for _, epsilon := range []float64{1, 1.5, 1e300} {
		if n, err := ClientsFor(t.Context(), mustClone(t, 1), epsilon, 1e-6); n != minClients || err != nil {
			t.Errorf("central %v: got %d, %v", epsilon, n, err)
		}
	}
	n, err := ClientsFor(t.Context(), mustClone(t, 20), 1e-3, 1e-6)
	if n != 0 || !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "0.001") {
		t.Errorf("out of reach: got %d, %v", n, err)
	}
}

func TestInverseErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		n             int
		delta, target float64
		want          string
	}{
		{1, 1e-6, 1, "privacy: clients: got 1, rule: must be in [2, 1000000000]"},
		{100, 0, 1, "privacy: delta: got 0, rule: must be in (0, 1)"},
		{100, nan, 1, "privacy: delta: got NaN, rule: must be in (0, 1)"},
		{100, 1e-6, 0, "privacy: target: got 0, rule: must be finite and positive"},
		{100, 1e-6, nan, "privacy: target: got NaN, rule: must be finite and positive"},
		{100, 1e-6, inf, "privacy: target: got +Inf, rule: must be finite and positive"},
	} {
		if got, err := LocalFor(t.Context(), buildClone, c.n, c.delta, c.target); got != 0 || !isInvalid(err, c.want) {
			t.Errorf("LocalFor(%d, %v, %v): got %v, %v, want error %q", c.n, c.delta, c.target, got, err, c.want)
		}
		if c.n == 1 {
			continue
		}
		want := strings.Replace(c.want, "target", "epsilonCentral", 1)
		if got, err := ClientsFor(t.Context(), mustClone(t, 1), c.target, c.delta); got != 0 || !isInvalid(err, want) {
			t.Errorf("ClientsFor(%v, %v): got %v, %v, want error %q", c.target, c.delta, got, err, want)
		}
	}
}

// enough promises everything from a number of clients on and nothing below.
type enough int

func (e enough) Delta(n int, _ float64) (float64, error) {
	if n >= int(e) {
		return 0, nil
	}
	return 1, nil
}

func (e enough) Epsilon(n int, delta float64) (float64, error) { return e.Delta(n, delta) }

func TestClientsForFindsEveryNumber(t *testing.T) {
	for _, want := range []enough{2, 3, 4, 5, 1000, 700_000_001, maxClients - 1, maxClients} {
		if n, err := ClientsFor(t.Context(), want, 0.5, 1e-6); n != int(want) || err != nil {
			t.Errorf("got %d, %v, want %d", n, err, want)
		}
	}
	if _, err := ClientsFor(t.Context(), enough(maxClients+1), 0.5, 1e-6); !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}

// limited refuses more than a number of clients.
type limited struct {
	fl.Amplification
	deltaClients, epsilonClients int
}

var errLimited = errors.New("too many clients")

func (l limited) Delta(n int, epsilonCentral float64) (float64, error) {
	if n > l.deltaClients {
		return 0, errLimited
	}
	return l.Amplification.Delta(n, epsilonCentral)
}

func (l limited) Epsilon(n int, delta float64) (float64, error) {
	if n > l.epsilonClients {
		return 0, errLimited
	}
	return l.Amplification.Epsilon(n, delta)
}

func TestInversePassesErrorsOn(t *testing.T) {
	for _, l := range []limited{{mustClone(t, 1), 100, maxClients}, {mustClone(t, 1), maxClients, 100}} {
		if n, err := ClientsFor(t.Context(), l, 0.053, 1e-6); n != 0 || !errors.Is(err, errLimited) {
			t.Errorf("%+v: ClientsFor: got %d, %v", l, n, err)
		}
		build := func(float64) (fl.Amplification, error) { return l, nil }
		if e, err := LocalFor(t.Context(), build, 10_000, 1e-6, 0.5); e != 0 || !errors.Is(err, errLimited) {
			t.Errorf("%+v: LocalFor: got %v, %v", l, e, err)
		}
	}
}

// Nothing is computed after the context has ended.
func TestInverseStopsAtOnce(t *testing.T) {
	for _, last := range []int{1, 2, 5, 9} {
		var calls int
		var end context.CancelFunc
		count := func() {
			if calls++; calls == last {
				end()
			}
		}
		build := func(epsilon float64) (fl.Amplification, error) { count(); return NewClone(epsilon) }
		for name, ask := range map[string]func(ctx context.Context) error{
			"LocalFor": func(ctx context.Context) error { _, err := LocalFor(ctx, build, 10_000, 1e-6, 0.05); return err },
			"ClientsFor": func(ctx context.Context) error {
				_, err := ClientsFor(ctx, counted{enough(700_000_001), count}, 0.5, 1e-6)
				return err
			},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			calls, end = 0, cancel
			if err := ask(ctx); !errors.Is(err, context.Canceled) || calls != last {
				t.Errorf("%s: error %v after %d calls, want Canceled after %d", name, err, calls, last)
			}
			cancel()
		}
	}
}

// counted counts evaluations.
type counted struct {
	fl.Amplification
	count func()
}

func (c counted) Delta(n int, epsilon float64) (float64, error) {
	c.count()
	return c.Amplification.Delta(n, epsilon)
}

func BenchmarkClientsFor(b *testing.B) {
	clone := mustClone(b, 4)
	for b.Loop() {
		if _, err := ClientsFor(b.Context(), clone, 0.005, 1e-6); err != nil {
			b.Fatal(err)
		}
	}
}
