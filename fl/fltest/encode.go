package fltest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// encoding encodes one input by one of the mechanism's methods.
type encoding func(dst []byte, rng *rand.Rand) ([]byte, error)

// prefixes are what a report is appended to: nothing, a full slice, and one with room.
func prefixes() [][]byte {
	return [][]byte{nil, []byte("prefix"), append(make([]byte, 0, 1024), "prefix"...)}
}

// encodes checks how a good input is encoded.
func (s *suite) encodes(encode encoding) error {
	report := must(encode(nil, s.rand(0)))
	for _, dst := range prefixes() {
		prefix := bytes.Clone(dst)
		out := must(encode(dst, s.rand(0)))
		switch {
		case !bytes.HasPrefix(out, prefix):
			return fmt.Errorf("%q became %q, a report must be appended", prefix, out)
		case !bytes.Equal(out[len(prefix):], report):
			return fmt.Errorf("equal generators gave %x and %x, a report must be a function of its input and rng", report, out[len(prefix):])
		}
	}
	fresh, err := encode(nil, nil)
	if err != nil {
		return fmt.Errorf("nil rng: %w", err)
	}
	sizer, sized := s.mechanism.(fl.ReportSizer)
	for _, report := range [][]byte{report, fresh} {
		if sized && len(report) != sizer.ReportBytes() {
			return fmt.Errorf("a report of %d bytes, ReportBytes says %d", len(report), sizer.ReportBytes())
		}
		if err := s.mechanism.NewAggregator().Add(report); err != nil {
			return fmt.Errorf("Add of the report: %w", err)
		}
	}
	return nil
}

// refuses checks how a bad input is refused.
func (s *suite) refuses(encode encoding) error {
	for _, dst := range prefixes() {
		for _, rng := range []*rand.Rand{s.rand(0), nil} {
			prefix := bytes.Clone(dst)
			out, err := encode(dst, rng)
			var p *fl.ParamError
			switch {
			case err == nil:
				return errors.New("was encoded, want a *fl.ParamError")
			case !errors.As(err, &p):
				return fmt.Errorf("error %w, want a *fl.ParamError", err)
			case !bytes.Equal(out, prefix) || !bytes.Equal(dst, prefix):
				return fmt.Errorf("on an error %q became %q, want dst as it was", prefix, out)
			}
		}
	}
	return nil
}

// of encodes an input, a gradient or pairs, and checks that every bit of it stays as it was.
func of[T any](input []T, encode func(dst []byte, input []T, rng *rand.Rand) ([]byte, error)) encoding {
	return func(dst []byte, rng *rand.Rand) ([]byte, error) {
		mine := slices.Clone(input)
		out, err := encode(dst, mine, rng)
		if err == nil && !bytes.Equal(bits(mine), bits(input)) {
			return out, errors.New("the input was changed")
		}
		return out, err
	}
}

// bits returns all bits of numbers, or of structures of numbers.
func bits(numbers any) []byte { return must(binary.Append(nil, binary.LittleEndian, numbers)) }

// goodGradients are finite. A mechanism takes all of them, however large or small: a client
// whose gradient was refused would reveal that by sending no report.
func (s *suite) goodGradients() []named[[]float64] {
	large, steep := s.gradient(0), s.gradient(0)
	for j := range large {
		large[j] = math.Copysign(min(16*s.round.Scale, math.MaxFloat64), large[j])
		steep[j] = math.Copysign(math.Ldexp(1, 1023-j*2000/len(steep)), steep[j])
	}
	all := func(v float64) []float64 { return slices.Repeat([]float64{v}, s.round.Dim) }
	one := func(v, others float64) []float64 { return append(all(others)[1:], v) }
	good := []named[[]float64]{
		{"zeros", all(0)}, {"zeros with the sign -", all(math.Copysign(0, -1))},
		{"coordinates of 16 times the scale", large}, {"coordinates of all sizes", steep},
	}
	for _, v := range []float64{math.MaxFloat64, 1e300, s.round.Scale, 1e-300, 1e-310, math.SmallestNonzeroFloat64} {
		good = append(good, []named[[]float64]{
			{fmt.Sprintf("coordinates of %g", v), all(v)}, {fmt.Sprintf("coordinates of %g", -v), all(-v)},
			{fmt.Sprintf("zeros and %g", v), one(v, 0)}, {fmt.Sprintf("coordinates of 1e300 and %g", v), one(v, -1e300)},
		}...)
	}
	for i := range min(samples, len(s.gradients)) {
		good = append(good, named[[]float64]{fmt.Sprintf("gradient %d", i), s.gradient(i)})
	}
	return good
}

// badGradients are no gradients.
func (s *suite) badGradients() []named[[]float64] {
	bad := []named[[]float64]{
		{"no coordinates", nil},
		{"one coordinate less", s.gradient(0)[1:]},
		{"one coordinate more", append(s.gradient(0), 0)},
		{"a thousand coordinates more", make([]float64, s.round.Dim+1000)},
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, at := range []int{0, s.round.Dim - 1} {
			grad := s.gradient(0)
			grad[at] = v
			bad = append(bad, named[[]float64]{fmt.Sprintf("%v at coordinate %d", v, at), grad})
		}
	}
	return bad
}

func (s *suite) gradientsAreEncoded() error {
	return each(s.goodGradients(), func(grad []float64) error { return s.encodes(of(grad, s.mechanism.Encode)) })
}

func (s *suite) badGradientsAreRefused() error {
	return each(s.badGradients(), func(grad []float64) error { return s.refuses(of(grad, s.mechanism.Encode)) })
}

// nilRandIsFresh: a mechanism whose reports differ from one generator to the next must not
// give the same ones for nil each time. Two lists of 64 reports are compared, first with
// two generators and then with nil. If two reports for one gradient are equal with
// probability c, a good mechanism is refused with probability
// P[Binomial(64, 1−c) ≥ 32]·c^64 at most, below 1e-12 for every c.
func (s *suite) nilRandIsFresh() error {
	const reports = 64
	differ := func(first, second *rand.Rand) (n int) {
		for range reports {
			a := must(s.mechanism.Encode(nil, s.gradient(0), first))
			if b := must(s.mechanism.Encode(nil, s.gradient(0), second)); !bytes.Equal(a, b) {
				n++
			}
		}
		return n
	}
	if seeded, fresh := differ(s.rand(3), s.rand(4)), differ(nil, nil); seeded >= reports/2 && fresh == 0 {
		return fmt.Errorf("nil rng: %d pairs of reports are equal, want fresh randomness", reports)
	}
	return nil
}
