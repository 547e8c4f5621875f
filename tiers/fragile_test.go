package tiers_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/tiers"
)

// fragile is a base mechanism with reports of one byte, which it counts. Its aggregators
// refuse to merge one that has counted the byte poison, and estimate no standard errors.
type fragile struct{ epsilon float64 }

const (
	fragileName = "test-fragile"
	poison      = 66
)

func init() { fl.Register(fragileName, fragile{}) }

func (fragile) Open(r fl.Round) (fl.Mechanism, error) { return fragile{r.Epsilon}, nil }

func (fragile) Encode(dst []byte, _ []float64, _ *rand.Rand) ([]byte, error) {
	return append(dst, 1), nil
}
func (fragile) NewAggregator() fl.Aggregator { return &fragileCounts{} }
func (f fragile) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: f.epsilon, Relation: fl.ReplaceOne}
}

type fragileCounts struct{ bytes [256]byte }

func (c *fragileCounts) Add(report []byte) error {
	if len(report) != 1 {
		return fl.ErrBadReport
	}
	c.bytes[report[0]]++
	return nil
}

func (c *fragileCounts) Merge(other fl.Aggregator) error {
	o := other.(*fragileCounts)
	if o.bytes[poison] > 0 {
		return errors.New("poisoned")
	}
	for i, n := range o.bytes {
		c.bytes[i] += n
	}
	return nil
}

func (c *fragileCounts) Estimate() (*fl.Estimate, error) {
	return fl.NewEstimate(fl.Round{Mechanism: fragileName}, fl.Guarantee{}, 1, fl.Series{Value: []float64{1}}), nil
}

func (c *fragileCounts) MarshalBinary() ([]byte, error)    { return bytes.Clone(c.bytes[:]), nil }
func (c *fragileCounts) UnmarshalBinary(data []byte) error { copy(c.bytes[:], data); return nil }

func openFragile(t *testing.T) (fl.Round, fl.Mechanism) {
	t.Helper()
	r, m, err := fl.Complete(fl.Round{
		ID: "r", Mechanism: tiers.Name, Dim: 1, Scale: 1, Epsilon: 2, MinReports: 1, PublicSeed: [32]byte{1},
		Params: fl.Params{tiers.ParamBase: fl.Text(fragileName), tiers.ParamMenu: fl.Text("1,2")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

func snapshotOf(t *testing.T, a fl.Aggregator) []byte {
	t.Helper()
	data, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The second tier fails after the first one was good: neither shows in the aggregator.
func TestWhatFailsHalfwayChangesNothing(t *testing.T) {
	_, m := openFragile(t)
	agg, bad := m.NewAggregator(), m.NewAggregator()
	if err := errors.Join(agg.Add([]byte{0, 5}), agg.Add([]byte{1, 6}), bad.Add([]byte{0, 7}), bad.Add([]byte{1, poison})); err != nil {
		t.Fatal(err)
	}
	before, badBefore := snapshotOf(t, agg), snapshotOf(t, bad)
	if err := agg.Merge(bad); err == nil {
		t.Error("a merge that fails in the second tier: want an error")
	}
	var refused *fl.BatchError
	if err := fl.AddBatch(m, agg, [][]byte{{0, 7}, {1, 8}, {1, 8, 8}}); !errors.As(err, &refused) || refused.Index != 2 || !errors.Is(err, fl.ErrBadReport) {
		t.Errorf("a batch with a bad report in the second tier: %v", err)
	}
	if err := fl.AddBatch(m, agg, [][]byte{{0, 7}, {1, poison}}); err == nil {
		t.Error("a batch that fails in the second tier: want an error")
	}
	if !bytes.Equal(before, snapshotOf(t, agg)) || !bytes.Equal(badBefore, snapshotOf(t, bad)) {
		t.Error("what failed has changed an aggregator")
	}
	if err := fl.AddBatch(m, agg, [][]byte{{0, 7}, {1, 8}}); err != nil || bytes.Equal(before, snapshotOf(t, agg)) {
		t.Errorf("a good batch: %v", err)
	}
}

// All tiers together count fl.MaxReports.
func TestFullAggregatorsRefuseMore(t *testing.T) {
	r, m := openFragile(t)
	restore := func(agg fl.Aggregator, first, second uint64) error {
		var payload []byte
		for _, n := range []uint64{first, second} {
			payload = append(binary.AppendUvarint(payload, n), 1, 0) // a part of one byte
		}
		return agg.UnmarshalBinary(fltest.Snapshot(t, r, payload))
	}
	full, one := m.NewAggregator(), m.NewAggregator()
	if err := errors.Join(restore(full, fl.MaxReports-1, 1), one.Add([]byte{0, 5})); err != nil {
		t.Fatal(err)
	}
	before := snapshotOf(t, full)
	for what, err := range map[string]error{
		"add": full.Add([]byte{1, 5}), "batch": fl.AddBatch(m, full, [][]byte{{0, 5}}), "merge": full.Merge(one),
		"snapshot": restore(full, fl.MaxReports, 1),
	} {
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != "reports" {
			t.Errorf("%s: %v, want a ParamError for reports", what, err)
		}
	}
	if !bytes.Equal(before, snapshotOf(t, full)) {
		t.Error("a report above the limit is counted")
	}
}

func TestBadSnapshotsChangeNothing(t *testing.T) {
	r, m := openFragile(t)
	agg := m.NewAggregator()
	if err := agg.Add([]byte{0, 5}); err != nil {
		t.Fatal(err)
	}
	before := snapshotOf(t, agg)
	for _, payload := range [][]byte{nil, {1}, {1, 1}, {1, 1, 0, 1, 2, 0}, {1, 1, 0}, {1, 1, 0, 1, 1, 0, 0}, {0x80}, {1, 0x80}} {
		if err := agg.UnmarshalBinary(fltest.Snapshot(t, r, payload)); err == nil {
			t.Errorf("% x: want an error", payload)
		}
	}
	if !bytes.Equal(before, snapshotOf(t, agg)) {
		t.Error("a refused snapshot has changed the aggregator")
	}
}

// The weights come from standard errors. A base mechanism without any is an error.
func TestTheBaseMustEstimateStandardErrors(t *testing.T) {
	_, m := openFragile(t)
	agg := m.NewAggregator()
	if err := agg.Add([]byte{0, 5}); err != nil {
		t.Fatal(err)
	}
	var p *fl.ParamError
	if e, err := agg.Estimate(); !errors.As(err, &p) || p.Param != tiers.ParamBase {
		t.Errorf("%+v, %v, want a ParamError for the base", e, err)
	}
}
