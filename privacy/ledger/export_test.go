package ledger_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// The schema of the package documentation, to the byte.
const exported = `{
  "version": 1,
  "purposes": {
    "all": {
      "budget": {
        "epsilon": "inf",
        "delta": 0,
        "relation": "zero-out"
      },
      "spent": {
        "epsilon": "inf",
        "delta": 0,
        "relation": "zero-out"
      },
      "entries": [
        {
          "id": 2,
          "state": "released",
          "round_id": "r2",
          "digest": "0000000000000002000000000000000000000000000000000000000000000001",
          "mechanism": "coco",
          "model": "shuffle",
          "epsilon": 0.1,
          "delta": 1e-9,
          "relation": "zero-out",
          "reserved_at": "2030-01-01T00:00:04Z",
          "released_at": "2030-01-01T00:00:05Z"
        },
        {
          "id": 3,
          "state": "reserved",
          "round_id": "r3",
          "digest": "0000000000000003000000000000000000000000000000000000000000000001",
          "mechanism": "coco",
          "model": "none",
          "epsilon": "inf",
          "delta": 0,
          "relation": "",
          "reserved_at": "2030-01-01T00:00:06Z"
        }
      ]
    },
    "empty": {
      "budget": {
        "epsilon": 4,
        "delta": 0.000001,
        "relation": "replace-one"
      },
      "spent": {
        "epsilon": 0,
        "delta": 0.000001,
        "relation": "replace-one"
      },
      "entries": []
    },
    "keyboard": {
      "budget": {
        "epsilon": 2,
        "delta": 0,
        "relation": "replace-one",
        "central": {
          "epsilon": 1,
          "delta": 0.000002,
          "relation": "replace-one"
        }
      },
      "spent": {
        "epsilon": 1.5,
        "delta": 0,
        "relation": "replace-one",
        "central": {
          "epsilon": 0.25,
          "delta": 0.000002,
          "relation": "replace-one"
        }
      },
      "entries": [
        {
          "id": 1,
          "state": "acknowledged",
          "round_id": "r1",
          "digest": "0000000000000001000000000000000000000000000000000000000000000001",
          "mechanism": "coco",
          "model": "local",
          "epsilon": 1.5,
          "delta": 0,
          "relation": "replace-one",
          "central": {
            "model": "shuffle",
            "epsilon": 0.25,
            "delta": 0.000001,
            "relation": "replace-one"
          },
          "reserved_at": "2030-01-01T00:00:01Z",
          "spent_at": "2030-01-01T00:00:02Z",
          "acknowledged_at": "2030-01-01T00:00:03Z",
          "receipt": "ok"
        }
      ]
    }
  }
}
`

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
	if got := out.String(); got != exported {
		t.Errorf("got\n%s", got)
	}
	wantError(t, l.Export(brokenWriter{}), errBroken, "")
}

var errBroken = errors.New("broken pipe")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }
