package fltest

import (
	"bytes"
	"fmt"
	"math"

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

// float32sAreEncoded: a report is the one of the same numbers as float64. So the two have the same
// law, and what is proved for one holds for the other.
func (s *suite) float32sAreEncoded(m fl.Float32Mechanism) error {
	return each(s.goodGradients(), func(grad []float64) error {
		narrow, wide := narrow(grad)
		if err := s.encodes(of(narrow, m.EncodeFloat32)); err != nil {
			return err
		}
		for stream := range uint64(samples) {
			got, want := must(m.EncodeFloat32(nil, narrow, s.rand(stream))), must(m.Encode(nil, wide, s.rand(stream)))
			if !bytes.Equal(got, want) {
				return fmt.Errorf("a report of %x, Encode gives %x for the same numbers and generator", got, want)
			}
		}
		return nil
	})
}

func (s *suite) badFloat32sAreRefused(m fl.Float32Mechanism) error {
	return each(s.badGradients(), func(grad []float64) error {
		narrow, _ := narrow(grad)
		return s.refuses(of(narrow, m.EncodeFloat32))
	})
}
