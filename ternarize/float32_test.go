package ternarize

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// Whether a gradient is of float32 or of float64, the same numbers give the same sample.
func TestFloat32IsSampledAsFloat64(t *testing.T) {
	const dim = 100 // not a multiple of the size of a block
	narrow, wide := make([]float32, dim), make([]float64, dim)
	for j, g := range randomGradient(dim) {
		narrow[j], wide[j] = float32(g), float64(float32(g))
	}
	a, err := NewSampler(dim, 10, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewSampler(dim, 10, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for i := range byte(100) {
		x, err := a.SampleFloat32(narrow, rand.New(rand.NewChaCha8([32]byte{i})))
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.Sample(wide, rand.New(rand.NewChaCha8([32]byte{i})))
		if err != nil || !slices.Equal(x.Index, y.Index) || !slices.Equal(x.Sign, y.Sign) {
			t.Fatalf("generator %d: %v and %v, %v", i, x, y, err)
		}
	}
	narrow[dim-1] = float32(math.Inf(1))
	var p *fl.ParamError
	if _, err := a.SampleFloat32(narrow, nil); !errors.As(err, &p) || !strings.Contains(p.Rule, "coordinate 99") {
		t.Errorf("Inf in the last coordinate: %v", err)
	}
}

func BenchmarkSample(b *testing.B) {
	grad := randomGradient(7850)
	narrow := make([]float32, len(grad))
	for j, g := range grad {
		narrow[j] = float32(g)
	}
	s, err := NewSampler(len(grad), 64, 1)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{}))
	for name, sampled := range map[string]func() error{
		"float64": func() error { _, err := s.Sample(grad, rng); return err },
		"float32": func() error { _, err := s.SampleFloat32(narrow, rng); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := sampled(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(grad)), "ns/coord")
		})
	}
}
