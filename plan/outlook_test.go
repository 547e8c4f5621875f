package plan

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/hdsum"
)

// A run whose noise is above its signal is refused, and what the refusal says would not be refused is not.
func TestNoiseIsRefused(t *testing.T) {
	q := Request{Mechanism: "auto", Trust: Nobody, Dim: 400, Clients: 2000, Budget: 0.5, Delta: 1e-6, Public: gradients(t, 64, 400, 0.1, 0.1)}
	_, err := q.Run(t.Context())
	if !errors.Is(err, ErrNoise) {
		t.Fatalf("error %v, want ErrNoise", err)
	}
	for _, want := range []string{"What would not be refused, and may still learn little: about", " clients", "ε = ", " coordinates", "shuffler"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the refusal lacks %q: %v", want, err)
		}
	}
	// Two thousand clients are people. Thirty may be hospitals.
	few := q
	few.Clients = 30
	if _, thirty := few.Run(t.Context()); strings.Contains(err.Error(), "records") || !strings.Contains(thirty.Error(), "the number of records and the trust own-site") {
		t.Errorf("2000 clients: %v\n30 clients: %v", err, thirty)
	}
	few.Trust, few.Records = OwnSite, 3_000_000
	if _, err := few.Run(t.Context()); err != nil {
		t.Errorf("30 sites with records: %v", err)
	}
	forced := q
	forced.Force = true
	run, err := forced.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ratio := *run.Outlook.SignalToNoise
	if !(ratio < 1) || math.Abs(run.Outlook.NoiseL2-20*run.Outlook.Noise) > 1e-12 {
		t.Errorf("forced: %+v", run.Outlook)
	}
	more := q
	more.Clients = int(float64(q.Clients) * math.Pow(refusalMargin/ratio, 2))
	if run, err = more.Run(t.Context()); err != nil || !(*run.Outlook.SignalToNoise >= 1) {
		t.Errorf("%d clients: %v", more.Clients, err)
	}
	// Two norms say nothing of a signal: such a run is planned as before.
	blind := q
	blind.Public, blind.L1, blind.L2 = nil, 40, 2
	if run, err = blind.Run(t.Context()); err != nil || run.Outlook != nil {
		t.Errorf("without a sample: %+v, %v", run, err)
	}
}

// Where no mean stands out of public gradients nothing is advised, and never nothing after "would not be refused".
func TestNoSignalHasNoRemedy(t *testing.T) {
	rows := [][]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} // their mean is 0
	s, err := NewSample(rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, trust := range []Trust{Nobody, Shuffler, TwoServers} {
		q := Request{Mechanism: "auto", Trust: trust, Dim: 2, Clients: 2000, Budget: 0.5, Delta: 1e-6, Public: s}
		if _, err := q.Run(t.Context()); !errors.Is(err, ErrNoise) || !strings.Contains(err.Error(), "no mean stands out") || !strings.Contains(err.Error(), "--force") || strings.Contains(err.Error(), "would not") {
			t.Errorf("%s: %v", trust, err)
		}
	}
	last := Run{Trust: TwoServers, Clients: 2000, Dim: 2, Budget: 1}
	if err := last.refuse(1e6, "it is so"); strings.Contains(err.Error(), "would not") {
		t.Error(err)
	}
}

// A run from a public model keeps more of it the more noise there is, and is refused where it may well end below it.
func TestWarmStarts(t *testing.T) {
	last := 0.0
	for _, clients := range []int{60000, 2000, 300} {
		run, why := decided(t, func(q *Request) { q.Trust, q.Clients, q.Rounds, q.Budget, q.ZeroShot = Nobody, clients, 0, 4, 0.9 })
		o := run.Outlook
		if o.Factor < last || o.Factor < warmLeast || o.Factor > 1 || o.Accuracy < 0.9 || !strings.Contains(why, "warm start: ") {
			t.Errorf("%d clients: %+v\n%s", clients, o, why)
		}
		if last = o.Factor; run.First([]float64{2})[0] != 2*o.Factor {
			t.Errorf("the first model is not %g times the public one", o.Factor)
		}
	}
	if last == warmLeast {
		t.Error("few clients start as many do")
	}
	q := request
	q.Trust, q.Clients, q.Rounds, q.Budget, q.ZeroShot = Nobody, 300, 0, 0.2, 0.9
	if _, err := q.Run(t.Context()); !errors.Is(err, ErrNoise) || !strings.Contains(err.Error(), "0.9") {
		t.Errorf("little budget: %v", err)
	}
	if run, _ := decided(t, func(q *Request) { q.Epsilon = 1 }); run.First([]float64{2})[0] != 2 {
		t.Error("a model without known accuracy is changed")
	}
}

// Less is left of what the public model has wrong where there is less noise.
func TestWarmRestGrowsWithNoise(t *testing.T) {
	last := 0.0
	for votes := 1e-5; votes < 1; votes *= 1.3 {
		rest := warmRest(votes)
		if rest < last || rest > 1 || rest <= 0 {
			t.Errorf("votes %g: %g after %g", votes, rest, last)
		}
		last = rest
	}
	if last != 1 {
		t.Errorf("%g of the errors are left in pure noise", last)
	}
}

// Sums by two servers have an outlook, too: the exact error of the mechanism. Fewer clients have smaller steps.
func TestSumsHaveAnOutlook(t *testing.T) {
	of := func(clients int) *Run {
		run, _ := decided(t, func(q *Request) { q.Trust, q.Clients, q.Rounds, q.ZeroShot, q.Budget = TwoServers, clients, 1, 0.9, 4 })
		return run
	}
	many, few := of(6000), of(400)
	if many.Mechanism != hdsum.SharesName || !(many.Outlook.Noise < few.Outlook.Noise/10) || !(many.LearningRate > few.LearningRate) {
		t.Errorf("%+v and %+v", many.Outlook, few.Outlook)
	}
}

// Fifty clients can be planned by every trust.
func TestSmallFederations(t *testing.T) {
	for _, trust := range []Trust{Nobody, Shuffler, TwoServers} {
		run, _ := decided(t, func(q *Request) { q.Trust, q.Clients, q.Rounds, q.Budget = trust, 50, 0, 1 })
		if p, err := run.Promise(t.Context(), run.Affordable); err != nil || run.Cohort < 2 || run.Affordable < 1 || p.Participations < 1 {
			t.Errorf("%s: %+v, %v", trust, run, err)
		}
	}
}
