package fltest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// narrow returns a gradient as float32, and the same numbers as float64. What is finite stays so.
func narrow(grad []float64) (narrow []float32, wide []float64) {
	for _, v := range grad {
		if !math.IsInf(v, 0) { // min and max keep NaN
			v = min(max(v, -math.MaxFloat32), math.MaxFloat32)
		}
		narrow = append(narrow, float32(v))
		wide = append(wide, float64(float32(v)))
	}
	return narrow, wide
}

// ofFloat32 encodes a gradient of float32 and checks that it stays as it was.
func ofFloat32(m fl.Float32Mechanism, grad []float32) encoding {
	return func(dst []byte, rng *rand.Rand) ([]byte, error) {
		mine := slices.Clone(grad)
		out, err := m.EncodeFloat32(dst, mine, rng)
		if err == nil && !slices.EqualFunc(mine, grad, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
			return out, errors.New("the gradient was changed")
		}
		return out, err
	}
}

// float32sAreEncoded: a report is the one of the same numbers as float64. So the two have the same
// law, and what is proved for one holds for the other.
func (s *suite) float32sAreEncoded() error {
	m, ok := s.mechanism.(fl.Float32Mechanism)
	if !ok {
		return nil
	}
	return each(s.goodGradients(), func(grad []float64) error {
		narrow, wide := narrow(grad)
		if err := s.encodes(ofFloat32(m, narrow)); err != nil {
			return err
		}
		for stream := range uint64(samples) {
			got, err := m.EncodeFloat32(nil, narrow, s.rand(stream))
			if err != nil {
				return err
			}
			want, err := m.Encode(nil, wide, s.rand(stream))
			if err != nil {
				return err
			}
			if !bytes.Equal(got, want) {
				return fmt.Errorf("a report of %x, Encode gives %x for the same numbers and generator", got, want)
			}
		}
		return nil
	})
}

func (s *suite) badFloat32sAreRefused() error {
	m, ok := s.mechanism.(fl.Float32Mechanism)
	if !ok {
		return nil
	}
	return each(s.badGradients(), func(grad []float64) error {
		narrow, _ := narrow(grad)
		return s.refuses(ofFloat32(m, narrow))
	})
}
