package scale

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/ternarize"
)

// small is a population of few clients and coordinates.
func small(t *testing.T, clients int) *population {
	t.Helper()
	s := &setting{dim: 100, sparsity: 4, batch: 16, epsilon: 3, rates: rates{dropout: 0.2, late: 0.2, resend: 0.2, lie: 0.2}}
	p, err := newPopulation(s, 1, clients)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A liar's report counts for the target as much as a report can: gain, of any report the most.
func TestALieCountsAsTheGain(t *testing.T) {
	p := small(t, 1)
	s, rng := p.sender(), experiment.Stream(1, 9)
	estimate := func(report []byte) []float64 {
		t.Helper()
		a := p.mechanism.NewAggregator()
		if err := a.Add(report); err != nil {
			t.Fatal(err)
		}
		e, err := a.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		return e.Mean().Value
	}
	for range 50 {
		if v := estimate(s.lie(nil, rng))[target]; math.Abs(v-p.gain) > 1e-9*p.gain {
			t.Fatalf("a lie moves the target by %g, want %g", v, p.gain)
		}
		honest, err := p.mechanism.Encode(nil, p.gradients[0], rng)
		if err != nil {
			t.Fatal(err)
		}
		if most := slices.Max(estimate(honest)); most > p.gain*(1+1e-9) {
			t.Fatalf("a report moves a coordinate by %g, above %g", most, p.gain)
		}
	}
}

// A message is the same whenever it is made. Messages have all clients. Liars, dropped, late and resent
// are about as many as their rates say: within 6 standard deviations, of a binomial law, a probability
// of 2e-9 for each of four rates.
func TestMessagesHaveAllClients(t *testing.T) {
	p := small(t, 20_001)
	first, second := p.sender(), p.sender()
	var honest, lies, dropped, late, resent int
	for i := p.messages() - 1; i >= 0; i-- {
		a, errA := first.message(i)
		b, errB := second.message(i)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if c, err := first.message(i); err != nil || !bytes.Equal(c.request.GetReports(), a.request.GetReports()) || !bytes.Equal(b.request.GetReports(), a.request.GetReports()) || a.late != p.isLate(p.stream(i)) {
			t.Fatalf("message %d is another one each time, error %v", i, err)
		}
		sum := 0
		for g := range a.honest {
			honest, lies, sum = honest+a.honest[g], lies+a.lies[g], sum+a.honest[g]+a.lies[g]
		}
		if sum != a.reports {
			t.Fatalf("message %d has %d reports of %d clients", i, a.reports, sum)
		}
		if unpacked, err := fl.UnpackReports(p.mechanism, a.request.GetReports()); sum > 0 && (err != nil || len(unpacked) != sum) {
			t.Fatalf("message %d: %d reports, error %v, want %d", i, len(unpacked), err, sum)
		}
		dropped += a.dropped
		if a.late {
			late++
		}
		if a.resent {
			resent++
		}
	}
	if honest+lies+dropped != p.clients {
		t.Errorf("%d honest, %d liars, %d dropped, want %d in all", honest, lies, dropped, p.clients)
	}
	for name, c := range map[string]struct {
		got, of int
		share   float64
	}{"dropped": {dropped, p.clients, 0.2}, "liars": {lies, p.clients - dropped, 0.2}, "late": {late, p.messages(), 0.2}, "resent": {resent, p.messages(), 0.2}} {
		if mean := c.share * float64(c.of); math.Abs(float64(c.got)-mean) > 6*math.Sqrt(mean*(1-c.share)) {
			t.Errorf("%s: %d of %d", name, c.got, c.of)
		}
	}
}

// Parts have about as many clients as they should, and all messages between them, each once.
func TestPartsHaveAllMessages(t *testing.T) {
	for clients, want := range map[int]int{1: 1, partClients: 1, 3*partClients + 1: 4} {
		p, next := small(t, clients), 0
		parts := p.parts()
		for _, of := range parts {
			if of.from != next || of.to <= of.from {
				t.Errorf("%d clients: part %+v behind message %d", clients, of, next)
			}
			next = of.to
		}
		if next*p.batch < clients || next != p.messages() || len(parts) != want {
			t.Errorf("%d clients: %d parts end at message %d of %d", clients, len(parts), next, p.messages())
		}
	}
}

// What clients encode is their gradient on average: clipping changes none. Each of 100 coordinates of three gradients is drawn in
// 20 000 vectors as often as it is large, within 6 standard deviations of a binomial law: a probability of 6e-7 in all.
func TestClippingChangesNoGradient(t *testing.T) {
	p, rng := small(t, 1), experiment.Stream(1, 10)
	s, err := ternarize.NewSampler(p.dim, p.sparsity, p.round.Scale)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	for g, grad := range p.gradients[:3] {
		sum := make([]float64, p.dim)
		for range n {
			x, err := s.Sample(grad, rng)
			if err != nil {
				t.Fatal(err)
			}
			for i, j := range x.Index {
				if int(j) < p.dim { // no dummy
					sum[j] += p.round.Scale * float64(x.Sign[i])
				}
			}
		}
		norm := 0.0
		for j, v := range grad {
			norm += math.Abs(v)
			share := math.Abs(v) / p.round.Scale
			// NaN for a coordinate above the cap, which fails.
			if got := sum[j] / n; !(math.Abs(got-v) <= 6*p.round.Scale*math.Sqrt(share*(1-share)/n)) {
				t.Errorf("gradient %d, coordinate %d: %g on average, want %g", g, j, got, v)
			}
		}
		if math.Abs(norm-p.round.Scale*float64(p.sparsity)) > 1e-9 {
			t.Errorf("gradient %d has the L1 norm %g", g, norm)
		}
	}
}

// What a checkpoint keeps of parts adds up to the whole; the truth is the mean over all clients.
func TestTalliesAddUp(t *testing.T) {
	p := small(t, 10)
	var all tally
	for i, v := range all.numbers() {
		*v = float64(i)
	}
	a, b := all, all
	b.memory = 1
	var sum tally
	sum.add(a.values())
	sum.add(b.values())
	if sum.memory != all.memory || sum.sent != 2*all.sent || sum.lies[3] != 2*all.lies[3] || len(a.values()) != len(all.numbers()) {
		t.Errorf("%+v", sum)
	}
	one := tally{sent: 4}
	one.honest[0], one.honest[1], one.lies[1] = 1, 2, 1
	mean, told := p.truth(&one)
	for j := range mean {
		if v := (p.gradients[0][j] + 3*p.gradients[1][j]) / 4; math.Abs(mean[j]-v) > 1e-12 || math.Abs(mean[j]-told[j]-p.gradients[1][j]/4) > 1e-12 {
			t.Fatalf("coordinate %d: mean %g, told %g", j, mean[j], told[j])
		}
	}
	o := &outcome{population: p, tally: one}
	largest := 0.0
	for _, grad := range p.gradients {
		largest = max(largest, slices.Max(grad), -slices.Min(grad))
	}
	if pull := o.expectedPull(); math.Abs(pull-(p.gain-p.gradients[1][target])/4) > 1e-12 || math.Abs(o.pullBound()-(p.gain+largest)/4) > 1e-12 {
		t.Errorf("expected pull %g, bound %g", pull, o.pullBound())
	}
}
