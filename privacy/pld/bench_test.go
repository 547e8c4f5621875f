package pld_test

import (
	"testing"

	"github.com/hushgrad/hushgrad/privacy/pld"
)

// BenchmarkThousand discretises and composes 1000 mechanisms and reports the error in ε.
func BenchmarkThousand(b *testing.B) {
	for name, build := range map[string]func() (*pld.Distribution, error){
		"pure":      func() (*pld.Distribution, error) { return pld.Pure(0.1, pld.Options{}) },
		"gaussian":  func() (*pld.Distribution, error) { return pld.Gaussian(10, pld.Options{}) },
		"shuffled5": func() (*pld.Distribution, error) { return pld.Shuffled(5, 40, 5975, 2000, pld.Options{}) },
		"shuffled1": func() (*pld.Distribution, error) { return pld.Shuffled(1, 4, 17, 10_000, pld.Options{}) },
	} {
		b.Run(name, func(b *testing.B) {
			var bounds pld.Bounds
			for b.Loop() {
				all := must[*pld.Distribution](b)(must[*pld.Distribution](b)(build()).Compose(1000))
				bounds = must[pld.Bounds](b)(all.Epsilon(1e-6))
			}
			b.ReportMetric(bounds.Error(), "ε-error")
		})
	}
}
