package compose_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/compose"
)

func TestEvents(t *testing.T) {
	const ledger = `[{"kind":"pure","epsilon":0.1,"count":3},{"kind":"gaussian","sigma":20,"count":5},
		{"kind":"approximate","epsilon":0.2,"delta":1e-9,"count":1},{"kind":"pure","epsilon":0.1,"count":2},
		{"kind":"discrete-laplace","eta":0.05,"shift":2,"count":4},
		{"kind":"shuffled","epsilon":1,"sparsity":4,"slots":17,"clients":200,"count":2}]`
	var events []compose.Event
	if err := json.Unmarshal([]byte(ledger), &events); err != nil {
		t.Fatal(err)
	}
	d := must[*compose.Distribution](t)(compose.Compose(t.Context(), events, compose.Options{}))
	if d.Count() != 17 {
		t.Errorf("%d mechanisms, want 17", d.Count())
	}
	b := epsilonOf(t, d)
	for i, j := 0, len(events)-1; i < j; i, j = i+1, j-1 {
		events[i], events[j] = events[j], events[i]
	}
	if again := epsilonOf(t, must[*compose.Distribution](t)(compose.Compose(t.Context(), events, compose.Options{}))); !near(b, again) {
		t.Errorf("reversed: %+v, want %+v", again, b)
	}
	var sum *compose.Distribution
	for _, one := range []struct {
		d     *compose.Distribution
		count int
	}{
		{must[*compose.Distribution](t)(compose.Pure(0.1, compose.Options{})), 5},
		{must[*compose.Distribution](t)(compose.Gaussian(t.Context(), 20, compose.Options{})), 5},
		{must[*compose.Distribution](t)(compose.Approximate(0.2, 1e-9, compose.Options{})), 1},
		{must[*compose.Distribution](t)(compose.DiscreteLaplace(0.05, 2, compose.Options{})), 4},
		{must[*compose.Distribution](t)(compose.Shuffled(t.Context(), 1, 4, 17, 200, compose.Options{})), 2},
	} {
		next := must[*compose.Distribution](t)(one.d.Compose(one.count))
		if sum != nil {
			next = must[*compose.Distribution](t)(sum.Then(t.Context(), next))
		}
		sum = next
	}
	if direct := epsilonOf(t, sum); !near(b, direct) {
		t.Errorf("events %+v, by hand %+v", b, direct)
	}
	data := must[[]byte](t)(json.Marshal(compose.Event{Kind: compose.KindGaussian, Sigma: 2, Count: 7}))
	if string(data) != `{"kind":"gaussian","sigma":2,"count":7}` {
		t.Errorf("JSON %s", data)
	}
}

// An event without a budget is one whose budget was forgotten: as a mechanism that reveals
// nothing it would make the total too small. A failure probability alone is a budget.
func TestEventsWithoutABudgetAreRefused(t *testing.T) {
	known := compose.Event{Kind: compose.KindPure, Epsilon: 0.1, Count: 3}
	for _, forgotten := range []compose.Event{
		{Kind: compose.KindPure, Count: 50}, {Kind: compose.KindApproximate, Count: 50},
		{Kind: compose.KindGaussian, Count: 50}, {Kind: compose.KindDiscreteLaplace, Shift: 1, Count: 50},
		{Kind: compose.KindShuffled, Sparsity: 4, Slots: 17, Clients: 200, Count: 50},
	} {
		for _, events := range [][]compose.Event{{forgotten}, {known, forgotten}} {
			var p *fl.ParamError
			if d, err := compose.Compose(t.Context(), events, compose.Options{}); !errors.As(err, &p) || d != nil {
				t.Errorf("%+v: got %v, %v, want a ParamError", events, d, err)
			}
		}
	}
	failing := []compose.Event{{Kind: compose.KindApproximate, Delta: 1e-9, Count: 2}}
	d := must[*compose.Distribution](t)(compose.Compose(t.Context(), failing, compose.Options{}))
	if got := d.Infinite(); got < 1.9e-9 || got > 2.1e-9 {
		t.Errorf("δ = 10^-9 twice: fails with probability %g", got)
	}
}
