package privacy

import (
	"errors"
	"math"
	"testing"
)

// References: the printed formula, evaluated in Python.
func TestErlingsson(t *testing.T) {
	for _, c := range []struct {
		epsilon float64
		n       int
		want    float64
	}{{0.1, 10_000, 0.04460306626619807}, {0.4, 1_000_000, 0.01784122650647923}, {0.1, 1001, 0.1}} {
		if got, err := erlingsson(c.epsilon).Curve(c.n, 1e-6); err != nil || math.Abs(got/c.want-1) > 1e-14 {
			t.Errorf("%+v: got %v, %v", c, got, err)
		}
	}
	for _, c := range []struct {
		epsilon float64
		n       int
		delta   float64
	}{{0.5, 10_000, 1e-6}, {0.1, 1000, 1e-6}, {0.1, 10_000, 0.01}} {
		if got, err := erlingsson(c.epsilon).Curve(c.n, c.delta); got != 0 || !errors.Is(err, ErrOutOfRange) {
			t.Errorf("%+v: got %v, %v", c, got, err)
		}
	}
}
