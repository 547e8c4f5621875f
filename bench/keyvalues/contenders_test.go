package keyvalues

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue/succinct"
	"github.com/hushgrad/hushgrad/sparse"
)

// Every mechanism is measured by each metric once, and CoCo by frequencies and by means
// with the best slots for either.
func TestSettingsHaveEveryMetricOnce(t *testing.T) {
	for _, c := range contenders {
		for _, dim := range []int{1, 256} {
			p := sparse.Point{Dim: dim, Sparsity: 1, Epsilon: 1, Hash: "gf2"}
			settings, err := c.settings(p)
			if err != nil {
				t.Fatal(err)
			}
			for metric, name := range metricNames {
				found := 0
				for _, s := range settings {
					if !s.has(metric) {
						continue
					}
					found++
					if at := s.column(metric); at < 0 || at >= s.width() {
						t.Errorf("%s: %s is in column %d of %d", c.label, name, at, s.width())
					}
					best := coco.Scheme.BestSlots
					if metric < firstMean {
						best = coco.Scheme.BestSlotsForFrequency
					}
					if slots, err := best(p); c.name == coco.Name && (err != nil || s.slots != slots) {
						t.Errorf("%s: %d slots, want %d, %v", name, s.slots, slots, err)
					}
				}
				want := 1
				if c.label == "SUCCINCT" && metric < firstMean {
					want = 0
				}
				if found != want {
					t.Errorf("%s, %s: measured in %d settings, want %d", c.label, name, found, want)
				}
			}
		}
	}
}

// Where the best number of slots is the same for both, one setting serves all metrics.
func TestCoCoSharesARoundWhereItCan(t *testing.T) {
	shared := 0
	for _, epsilon := range []float64{0.1, 1, 2, 4, 6} {
		p := sparse.Point{Dim: 256, Sparsity: 1, Epsilon: epsilon, Hash: "gf2"}
		settings, err := withSlots(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(settings) == 1 {
			shared++
			if s := settings[0]; s.width() != len(metricNames) {
				t.Errorf("ε = %g: %d metrics", epsilon, s.width())
			}
		} else if len(settings) != 2 || settings[0].slots == settings[1].slots {
			t.Errorf("ε = %g: %+v", epsilon, settings)
		}
	}
	if shared == 0 {
		t.Error("no ε in the list shares a round")
	}
}

// Reports are encoded in batches of 1024: all of them are added once, and alone they give
// the same aggregator.
func TestBatchesHoldEveryReportOnce(t *testing.T) {
	const clients = 2500
	o, err := openRound(roundOf(succinct.Name, 3, 1, fl.Params{sparse.ParamSparsity: fl.Int(1)}), rand.New(rand.NewChaCha8([32]byte{7})))
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
