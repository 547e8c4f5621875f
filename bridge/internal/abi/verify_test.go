package abi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// overspender is collision with three times the ε that it promises.
type overspender struct{}

type overspent struct {
	fl.Mechanism
	promise fl.Guarantee
}

func (o overspent) Guarantee() fl.Guarantee { return o.promise }

func (overspender) Open(r fl.Round) (fl.Mechanism, error) {
	promise := fl.Guarantee{Trust: fl.Local, Epsilon: r.Epsilon, Relation: fl.ReplaceOne}
	r.Mechanism, r.Epsilon = "collision", 3*r.Epsilon
	m, err := fl.Open(r)
	return overspent{m, promise}, err
}

func (overspender) Complete(r fl.Round) (fl.Round, error) { return r, nil }

func init() { fl.Register("test-overspender", overspender{}) }

func TestVerifyFindsWhoKeepsAPromise(t *testing.T) {
	c := newCaller(t)
	check := func(round, method string, samples int) map[string]any {
		made, _ := c.must("round.new", round, nil)
		answer, _ := c.must("verify", fmt.Sprintf(`{"round": %v, "method": %q, "seeds": 10, "samples": %d}`, made["round"], method, samples), nil)
		return answer
	}
	exact := strings.Replace(small, `"dim": 4`, `"dim": 2`, 1)
	if a := check(exact, "", 1000); a["holds"] != true || a["method"] != "exact" || !(a["epsilon_found"].(float64) <= 4) || !strings.Contains(a["explanation"].(string), "HOLDS") {
		t.Errorf("coco: %v", a)
	}
	liar := `{"id": "r", "mechanism": "test-overspender", "dim": 3, "scale": 1, "epsilon": 0.5, "min_reports": 3, "params": {"sparsity": 2, "slots": 8, "hash": "gf2"}}`
	// Half of the 6000 samples choose the event, and of the others a share has a standard deviation of 0.0091 at most. The event
	// that shows the lie best is found in at least 0.45 against at most 0.14 of them. Bounds at 1e-6 are 5 deviations from the
	// shares: 0.40 and 0.17. A factor of e^0.5 would take an excess of the first over the second times e^0.5 that is 8
	// deviations smaller.
	if a := check(liar, "statistical", 6000); a["holds"] != false || !(a["epsilon_found"].(float64) > 0.5) || !strings.Contains(a["explanation"].(string), "VIOLATION") {
		t.Errorf("three times the promised ε: %v", a)
	}
	menu := `{"id": "r", "mechanism": "tiers", "dim": 2, "scale": 0.5, "epsilon": 2, "min_reports": 3, "params": {"base": "coco", "menu": "0.5,2", "sparsity": 2}}`
	if a := check(menu, "", 300); a["holds"] != true || len(a["tiers"].([]any)) != 2 {
		t.Errorf("a menu of two: %v", a)
	}
}
