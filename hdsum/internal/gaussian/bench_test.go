package gaussian

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// modelRound is a round of 6000 clients over a model of 1970 parameters.
func modelRound() fl.Round {
	r := testRound(1970)
	r.Scale, r.MinReports = 1, 6000
	return r
}

// BenchmarkEncodeShares is what a client pays.
func BenchmarkEncodeShares(b *testing.B) {
	m, rng := open(b, modelRound()), newRand(90)
	grad := make([]float64, 1970)
	for i := range grad {
		grad[i] = rng.NormFloat64() / math.Sqrt(1970)
	}
	b.ReportAllocs()
	for b.Loop() {
		first, second, err := m.EncodeShares(nil, nil, grad, rng)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(first)+len(second)), "bytes")
	}
}

// BenchmarkAddShare is what each server pays for a client.
func BenchmarkAddShare(b *testing.B) {
	m := open(b, modelRound())
	first, second, err := m.EncodeShares(nil, nil, make([]float64, 1970), newRand(91))
	if err != nil {
		b.Fatal(err)
	}
	p := pair{[]byte("id"), first, second}
	for name, side := range map[string]fl.ShareSide{"first": fl.FirstServer, "second": fl.SecondServer} {
		b.Run(name, func(b *testing.B) {
			s := newServer(b, m, side)
			for b.Loop() {
				if err := s.Add(p.id, p.share(side)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRelease is what each server pays once in a round of a million coordinates.
func BenchmarkRelease(b *testing.B) {
	r := testRound(1 << 20)
	r.MinReports = 1
	m := open(b, r)
	p, s := pairs(b, m, 1)[0], newServer(b, m, fl.FirstServer)
	if err := s.Add(p.id, p.first); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Release(nil); err != nil {
			b.Fatal(err)
		}
	}
}
