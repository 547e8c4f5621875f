package coco

import (
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

func TestRoundsHaveTheExactError(t *testing.T) {
	sparsetest.CheckRounds(t, Scheme)
}

// The bytes of reports and snapshots, as docs/report-format.md describes them.
func TestVectors(t *testing.T) { sparsetest.CheckVectors(t, Name, "testdata/vectors.json") }

func BenchmarkDecode(b *testing.B) { sparsetest.BenchmarkDecode(b, Name) }

func BenchmarkEncode(b *testing.B) {
	const dim, s = 7850, 64
	m := sparsetest.Open(b, sparsetest.Round(b, Name, dim, s, 5))
	rng := rand.New(rand.NewChaCha8([32]byte{31}))
	grad := make([]float64, dim)
	for j := range grad {
		grad[j] = rng.NormFloat64() / 40
	}
	x := sparsetest.Input(dim, s, 0)
	dst := make([]byte, 0, 16)
	b.Run("from=gradient", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.Encode(dst, grad, rng); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("from=ternary", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.EncodeTernary(dst, x, rng); err != nil {
				b.Fatal(err)
			}
		}
	})
}
