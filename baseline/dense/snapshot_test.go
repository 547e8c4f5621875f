package dense

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/snapshot"
)

func TestUnknownParametersAreRefused(t *testing.T) {
	r := fl.Round{
		ID: "r", Mechanism: Name, Dim: 2, Scale: 1, Epsilon: math.Inf(1), Relation: fl.ReplaceOne, MinReports: 1,
		Params: fl.Params{"sparsity": fl.Int(1)}, PublicSeed: [32]byte{1},
	}
	var p *fl.ParamError
	if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != "params" {
		t.Errorf("a parameter it does not know: %v, want a ParamError for params", err)
	}
}

// Snapshots with the right digest and checksum: a good one is restored, every
// other one refused without a change.
func TestSnapshotsWithImpossiblePayloadsAreRefused(t *testing.T) {
	m := open(t, 2)
	digest := m.(*mechanism).digest
	payload := func(reports int64, values ...float64) []byte {
		p := binary.LittleEndian.AppendUint64(nil, uint64(reports))
		for _, v := range values {
			p = binary.LittleEndian.AppendUint64(p, math.Float64bits(v))
		}
		return p
	}
	restore := func(agg fl.Aggregator, p []byte) error {
		data, err := snapshot.Encode(digest, p)
		if err != nil {
			t.Fatal(err)
		}
		return agg.UnmarshalBinary(data)
	}
	agg := m.NewAggregator()
	good := payload(2, 3, -1, 5, 1)
	if err := restore(agg, good); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string][]byte{
		"nothing": {}, "a few bytes": {1, 2, 3}, "one value short": payload(2, 9, 9, 9), "one byte short": good[:len(good)-1],
		"one byte long": append(payload(2, 9, 9, 9, 9), 0), "-1 reports": payload(-1, 9, 9, 9, 9),
		"the least int64": payload(math.MinInt64, 9, 9, 9, 9),
	} {
		if restore(agg, p) == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	e, err := agg.Estimate()
	if err != nil || e.Reports != 2 || e.Value[0] != 1.5 || e.Value[1] != -0.5 {
		t.Errorf("after the refusals: %+v, %v, want 2 reports with the mean 1.5 and -0.5", e, err)
	}
}
