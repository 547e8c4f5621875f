package rivals

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// exceeds returns P[|X| > clip] for the sum of s independent variables that are 0 with
// probability 1 − 1/B and else ±1, by convolution.
func exceeds(s, buckets, clip int) (tail float64) {
	p := make([]float64, 2*s+1)
	p[s] = 1
	some := 1 / float64(buckets)
	for range s {
		next := make([]float64, len(p))
		for k, v := range p {
			next[k] += v * (1 - some)
			if k > 0 {
				next[k-1] += v * some / 2
			}
			if k < 2*s {
				next[k+1] += v * some / 2
			}
		}
		p = next
	}
	for k, v := range p {
		if k-s > clip || s-k > clip {
			tail += v
		}
	}
	return tail
}

// The exact tail is within β/(2n), the bound is not above Hoeffding's, and it is not
// wasteful: half of it would be clipped more often than allowed.
func TestClipKeepsItsPromise(t *testing.T) {
	const beta = 0.1
	for _, s := range []int{1, 2, 5, 40, 400} {
		for _, buckets := range []int{1, 2, 8, 50} {
			for _, n := range []int{1, 100, 100_000} {
				clip, err := SuccinctClip(s, buckets, n, beta)
				if err != nil {
					t.Fatal(err)
				}
				allowed := beta / 2 / float64(n)
				if got := exceeds(s, buckets, clip); got > allowed {
					t.Errorf("s=%d, B=%d, n=%d: above %d with probability %g, want %g", s, buckets, n, clip, got, allowed)
				}
				if clip < 1 || clip > s || float64(clip) > math.Ceil(math.Sqrt(2*float64(s)*math.Log(4*float64(n)/beta))) {
					t.Errorf("s=%d, B=%d, n=%d: clip %d", s, buckets, n, clip)
				}
				if less := clip / 2; s >= 40 && exceeds(s, buckets, less) <= allowed {
					t.Errorf("s=%d, B=%d, n=%d: clip %d, but %d would do", s, buckets, n, clip, less)
				}
			}
		}
	}
}

func TestBadParametersAreRefused(t *testing.T) {
	for param, clip := range map[string]func() (int, error){
		"sparsity": func() (int, error) { return SuccinctClip(0, 1, 1, 0.1) },
		"buckets":  func() (int, error) { return SuccinctClip(1, MaxSuccinctBuckets+1, 1, 0.1) },
		"reports":  func() (int, error) { return SuccinctClip(1, 1, 0, 0.1) },
		"beta":     func() (int, error) { return SuccinctClip(1, 1, 1, math.NaN()) },
	} {
		var p *fl.ParamError
		if _, err := clip(); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%v, want a ParamError for %s", err, param)
		}
	}
	for i, mse := range []func() (float64, error){
		func() (float64, error) { return SuccinctMSE(3, 4, 1, 1, 1, 0.1) },
		func() (float64, error) { return SuccinctMSE(4, 3, 1, 1, math.NaN(), 0.1) },
		func() (float64, error) { return SuccinctMSE(4, 3, 0, 1, 1, 0.1) },
		func() (float64, error) { return SuccinctMSE(4, 3, 1, 1, 1e-12, 0.1) },
	} {
		if _, err := mse(); err == nil {
			t.Errorf("case %d: want an error", i)
		}
	}
}
