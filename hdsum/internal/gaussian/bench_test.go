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

// BenchmarkMaskedVector is the part of encoding a million coordinates that cannot be saved: the mask's bytes, and writing a vector. BenchmarkMillion is
// all of it, with clip, rotation and rounding.
func BenchmarkMaskedVector(b *testing.B) {
	r := testRound(1 << 20)
	r.MinReports = 1000
	m := open(b, r)
	ring, y := ringOf(m), make([]uint64, 1<<20)
	seed := make([]byte, seedBytes)
	for b.Loop() {
		mask := ring.expand(seed)
		for i := range y {
			y[i] = -ring.at(mask, i)
		}
		ring.pack(nil, y)
	}
}

// BenchmarkMillion is BenchmarkEncodeShares for a million coordinates.
func BenchmarkMillion(b *testing.B) {
	r := testRound(1 << 20)
	r.MinReports = 1000
	m, rng := open(b, r), newRand(93)
	grad := make([]float64, 1<<20)
	for i := range grad {
		grad[i] = rng.NormFloat64()
	}
	for b.Loop() {
		if _, _, err := m.EncodeShares(nil, nil, grad, rng); err != nil {
			b.Fatal(err)
		}
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
