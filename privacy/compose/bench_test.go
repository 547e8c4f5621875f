package compose_test

import (
	"testing"

	"github.com/hushgrad/hushgrad/privacy/compose"
)

// BenchmarkThousand discretises and composes 1000 mechanisms and reports the error in ε.
func BenchmarkThousand(b *testing.B) {
	for name, build := range map[string]func() (*compose.Distribution, error){
		"pure":      func() (*compose.Distribution, error) { return compose.Pure(0.1, compose.Options{}) },
		"gaussian":  func() (*compose.Distribution, error) { return compose.Gaussian(10, compose.Options{}) },
		"shuffled5": func() (*compose.Distribution, error) { return compose.Shuffled(5, 40, 5975, 2000, compose.Options{}) },
		"shuffled1": func() (*compose.Distribution, error) { return compose.Shuffled(1, 4, 17, 10_000, compose.Options{}) },
	} {
		b.Run(name, func(b *testing.B) {
			var bounds compose.Bounds
			for b.Loop() {
				all := must[*compose.Distribution](b)(must[*compose.Distribution](b)(build()).Compose(1000))
				bounds = must[compose.Bounds](b)(all.Epsilon(1e-6))
			}
			b.ReportMetric(bounds.Error(), "ε-error")
		})
	}
}
