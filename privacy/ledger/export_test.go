package ledger_test

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// The form of the stored example, to the byte.
func TestExport(t *testing.T) {
	now := time.Date(2030, 1, 1, 2, 0, 0, 0, time.FixedZone("", 7200))
	l, _ := fresh(t, limit(2), ledger.Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
	must(t, l.SetBudget("empty", ledger.Budget{Epsilon: 4, Delta: 1e-6, Relation: fl.ReplaceOne}))
	must(t, l.SetBudget("all", ledger.Budget{Epsilon: inf, Relation: fl.ZeroOut}))
	must(t, l.SetCentralBudget(purpose, ledger.Budget{Epsilon: 1, Delta: 2e-6, Relation: fl.ReplaceOne}))
	central := charge(1, 1.5)
	central.Central = shuffled(0.25, 1e-6)
	id := reserve(t, l, central)
	must(t, l.Spend(id))
	must(t, l.Receipt(id, "ok"))
	c := charge(2, 0.1)
	c.Purpose, c.Guarantee = "all", fl.Guarantee{Trust: fl.Shuffle, Epsilon: 0.1, Delta: 1e-9, Relation: fl.ZeroOut}
	must(t, l.Release(reserve(t, l, c)))
	c = charge(3, inf)
	c.Purpose, c.Guarantee = "all", fl.Guarantee{Trust: fl.NoPrivacy, Epsilon: inf}
	reserve(t, l, c)
	var out bytes.Buffer
	must(t, l.Export(&out))
	exported, err := os.ReadFile("testdata/exported.json")
	must(t, err)
	if !bytes.Equal(out.Bytes(), exported) {
		t.Errorf("got\n%s", out.String())
	}
	wantError(t, l.Export(brokenWriter{}), errBroken, "")
}

var errBroken = errors.New("broken pipe")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }
