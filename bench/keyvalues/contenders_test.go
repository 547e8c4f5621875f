package keyvalues

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// Every contender is measured by each metric once, but for those without frequencies.
func TestSettingsHaveEveryMetricOnce(t *testing.T) {
	for _, c := range contenders {
		settings, err := c.settings(shape{1000, 256, 4}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range metrics {
			found := 0
			for _, s := range settings {
				if slices.Contains(s.by, m) {
					found++
				}
			}
			want := 1
			if (c.mechanism == rivals.Succinct || c.reference) && !m.ofMeans() {
				want = 0
			}
			if found != want {
				t.Errorf("%s, %s: measured in %d settings, want %d", c.label, m.name(), found, want)
			}
		}
	}
}

// ε = ln 2 and s = 5: ⌊10+10−1⌋ slots for Collision, 10+25 for CoCo's frequencies and 10+5+2 for its
// means, made even.
func TestSlotsAreThePapers(t *testing.T) {
	at := shape{1000, 256, 5}
	one, err := closedForm(at, math.Ln2)
	if err != nil || one[0].slots() != 19 {
		t.Errorf("Collision: %+v, %v", one, err)
	}
	two, err := closedForms(at, math.Ln2)
	if err != nil || two[0].slots() != 36 || two[1].slots() != 18 || two[0].by[0] != frequencyTVE {
		t.Errorf("CoCo: %+v, %v", two, err)
	}
}

// The smaller clip of SUCCINCT is about √(s·ln(n/β)), where that is below the proven one and s.
func TestSmallerClip(t *testing.T) {
	const n = 100_000
	for _, s := range []int{16, 32, 64} {
		settings, err := clippedMore(shape{n, 256, s}, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rivals.SuccinctClip(s, 1, settings[0].reports, 0.1)
		if want := min(float64(s), math.Sqrt(float64(s)*math.Log(n/0.1))); err != nil || math.Abs(float64(got)/want-1) > 0.15 {
			t.Errorf("s = %d: %d, want about %g, %v", s, got, want, err)
		}
	}
}

// Reports are encoded in batches of 1024: all of them are added once, and alone they give
// the same aggregator.
func TestBatchesHoldEveryReportOnce(t *testing.T) {
	const clients = 2500
	o, err := openRound(roundOf(rivals.Succinct, 3, 1, fl.Params{sparse.ParamSparsity: fl.Int(1)}), rand.New(rand.NewChaCha8([32]byte{7})))
	if err != nil {
		t.Fatal(err)
	}
	encode := func(rng *rand.Rand) func(dst []byte, client int) ([]byte, error) {
		return func(dst []byte, client int) ([]byte, error) {
			return o.mechanism.(fl.KeyValueMechanism).EncodeKeyValues(dst, []fl.KeyValue{{Key: uint32(client % 3), Value: 1}}, rng)
		}
	}
	if err := o.encode(t.Context(), clients, encode(rand.New(rand.NewChaCha8([32]byte{8})))); err != nil {
		t.Fatal(err)
	}
	alone, next := o.mechanism.NewAggregator(), encode(rand.New(rand.NewChaCha8([32]byte{8})))
	for client := range clients {
		report, err := next(nil, client)
		if err := errors.Join(err, alone.Add(report)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := o.agg.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if want, err := alone.MarshalBinary(); err != nil || !bytes.Equal(got, want) {
		t.Errorf("batches give another aggregator than single reports, %v", err)
	}
}
