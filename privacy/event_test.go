package privacy_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

func TestEvents(t *testing.T) {
	const ledger = `[{"kind":"pure","epsilon":0.1,"count":3},{"kind":"gaussian","sigma":20,"count":5},
		{"kind":"approximate","epsilon":0.2,"delta":1e-9,"count":1},{"kind":"pure","epsilon":0.1,"count":2},
		{"kind":"discrete-laplace","eta":0.05,"shift":2,"count":4},
		{"kind":"shuffled","epsilon":1,"sparsity":4,"slots":17,"clients":200,"count":2}]`
	var events []privacy.Event
	if err := json.Unmarshal([]byte(ledger), &events); err != nil {
		t.Fatal(err)
	}
	d := must[*privacy.Distribution](t)(privacy.Compose(t.Context(), events, privacy.Options{}))
	if d.Count() != 17 {
		t.Errorf("%d mechanisms, want 17", d.Count())
	}
	b := epsilonOf(t, d)
	for i, j := 0, len(events)-1; i < j; i, j = i+1, j-1 {
		events[i], events[j] = events[j], events[i]
	}
	if again := epsilonOf(t, must[*privacy.Distribution](t)(privacy.Compose(t.Context(), events, privacy.Options{}))); !near(b, again) {
		t.Errorf("reversed: %+v, want %+v", again, b)
	}
	var sum *privacy.Distribution
	for _, one := range []struct {
		d     *privacy.Distribution
		count int
	}{
		{must[*privacy.Distribution](t)(privacy.Pure(0.1, privacy.Options{})), 5},
		{must[*privacy.Distribution](t)(privacy.Gaussian(t.Context(), 20, privacy.Options{})), 5},
		{must[*privacy.Distribution](t)(privacy.Approximate(0.2, 1e-9, privacy.Options{})), 1},
		{must[*privacy.Distribution](t)(privacy.DiscreteLaplace(0.05, 2, privacy.Options{})), 4},
		{must[*privacy.Distribution](t)(privacy.Shuffled(t.Context(), 1, 4, 17, 200, privacy.Options{})), 2},
	} {
		next := must[*privacy.Distribution](t)(one.d.Compose(one.count))
		if sum != nil {
			next = must[*privacy.Distribution](t)(sum.Then(t.Context(), next))
		}
		sum = next
	}
	if direct := epsilonOf(t, sum); !near(b, direct) {
		t.Errorf("events %+v, by hand %+v", b, direct)
	}
	data := must[[]byte](t)(json.Marshal(privacy.Event{Kind: privacy.KindGaussian, Sigma: 2, Count: 7}))
	if string(data) != `{"kind":"gaussian","sigma":2,"count":7}` {
		t.Errorf("JSON %s", data)
	}
}

// An event without a budget is one whose budget was forgotten: as a mechanism that reveals
// nothing it would make the total too small. A failure probability alone is a budget.
func TestEventsWithoutABudgetAreRefused(t *testing.T) {
	known := privacy.Event{Kind: privacy.KindPure, Epsilon: 0.1, Count: 3}
	for _, forgotten := range []privacy.Event{
		{Kind: privacy.KindPure, Count: 50}, {Kind: privacy.KindApproximate, Count: 50},
		{Kind: privacy.KindGaussian, Count: 50}, {Kind: privacy.KindDiscreteLaplace, Shift: 1, Count: 50},
		{Kind: privacy.KindShuffled, Sparsity: 4, Slots: 17, Clients: 200, Count: 50},
	} {
		for _, events := range [][]privacy.Event{{forgotten}, {known, forgotten}} {
			var p *fl.ParamError
			if d, err := privacy.Compose(t.Context(), events, privacy.Options{}); !errors.As(err, &p) || d != nil {
				t.Errorf("%+v: got %v, %v, want a ParamError", events, d, err)
			}
		}
	}
	failing := []privacy.Event{{Kind: privacy.KindApproximate, Delta: 1e-9, Count: 2}}
	d := must[*privacy.Distribution](t)(privacy.Compose(t.Context(), failing, privacy.Options{}))
	if got := d.Infinite(); got < 1.9e-9 || got > 2.1e-9 {
		t.Errorf("δ = 10^-9 twice: fails with probability %g", got)
	}
}
