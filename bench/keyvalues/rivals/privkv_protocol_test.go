package rivals

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// expected returns the tally of 10^9 reports that are all as frequent as their
// probability, by enumeration of the randomizer.
func expected(t *testing.T, p *protocol, frequency, value float64) tally {
	t.Helper()
	const n = 1e9
	var votes [3]float64
	for share, held := range map[float64]bool{frequency: true, 1 - frequency: false} {
		law, err := exact.Enumerate(8, func(choose exact.Chooser) (uint32, error) {
			return p.message(held, value, choose), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for message, probability := range law {
			prob, _ := probability.Float64()
			for i := range votes {
				if p.messages[message]>>i&1 == 1 {
					votes[i] += n * share * prob
				}
			}
		}
	}
	return tally{reports: n, none: int32(math.Round(votes[0])), plus: int32(math.Round(votes[1])), minus: int32(math.Round(votes[2]))}
}

// Conditional means in the limit of many reports, where rounding to whole reports is
// all the error: m for KVUE, and for PrivKV the recursion of its iterations,
// m_r = w·m + (1−w)·m_(r−1) from m_0 = 0, in which w is the share of the holders among
// the clients that send a sign.
func TestConditionalMeansInTheLimit(t *testing.T) {
	for _, eps := range []float64{0.5, 2, 8} {
		for _, f := range []float64{0.1, 0.7, 1} {
			for _, m := range []float64{-1, -0.2, 0, 0.3, 1} {
				for _, c := range []struct {
					name            string
					rounds, virtual int
				}{{PrivKV, 1, 0}, {PrivKVM, 1, 5}, {PrivKVM, 4, 1}, {PrivKVM, 1, 1000}, {KVUE, 1, 0}} {
					p, err := newProtocol(c.name, eps, c.rounds, c.virtual)
					if err != nil {
						t.Fatal(err)
					}
					k := expected(t, p, f, m)
					frequency, _ := p.frequency(k)
					if math.Abs(frequency-f) > 1e-7 {
						t.Errorf("%+v, ε=%g: frequency %g, want %g", c, eps, frequency, f)
					}
					want := m
					if c.name != KVUE {
						e := math.Exp(eps / 2)
						w := f * e / (f*e + 1 - f)
						want = 0
						for range 1 + c.virtual {
							want = w*m + (1-w)*want
						}
					}
					if got := p.conditionalMean(k, frequency); math.Abs(got-want) > 1e-6 {
						t.Errorf("%+v, ε=%g, f=%g: conditional mean %g, want %g", c, eps, f, got, want)
					}
				}
			}
		}
	}
}

// What reports cannot be like in expectation is moved into range.
func TestConditionalMeansAreClamped(t *testing.T) {
	for _, name := range []string{PrivKV, PrivKVM, KVUE} {
		p, err := newProtocol(name, 1, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			k    tally
			want float64
		}{{tally{}, 0}, {tally{reports: 5, plus: 5}, 1}, {tally{reports: 5, minus: 5}, -1}, {tally{reports: 5, none: 5}, 0}} {
			frequency, stderr := p.frequency(c.k)
			if got := p.conditionalMean(c.k, frequency); got != c.want {
				t.Errorf("%s: conditional mean of %+v is %g, want %g", name, c.k, got, c.want)
			}
			if !(stderr > 0) || c.k.reports == 0 && (frequency != 0 || stderr != 1) {
				t.Errorf("%s: frequency of %+v is %g ± %g", name, c.k, frequency, stderr)
			}
		}
	}
}

// The last code of every size survives, and the next one is refused.
func TestCodesFillTheirBytes(t *testing.T) {
	for _, c := range []struct{ dim, messages, bytes int }{
		{1, 3, 1}, {85, 3, 1}, {86, 3, 2}, {32, 8, 1}, {33, 8, 2}, {8192, 8, 2}, {8193, 8, 3}, {1 << 21, 8, 3}, {fl.MaxDim, 3, 4}, {fl.MaxDim, 8, 4},
	} {
		codec := newPrivKVCodec(c.dim, c.messages)
		last := codec.append(nil, entry{uint32(c.dim - 1), uint32(c.messages - 1)})
		if len(last) != c.bytes {
			t.Errorf("%+v: %d bytes", c, len(last))
		}
		if e, err := codec.parse(last); err != nil || int(e.key) != c.dim-1 || int(e.message) != c.messages-1 {
			t.Errorf("%+v: the last code % x is %+v, %v", c, last, e, err)
		}
		if code := c.dim * c.messages; code%256 != 0 { // else the next code has one byte more
			last[0]++
			if _, err := codec.parse(last); !errors.Is(err, fl.ErrBadReport) {
				t.Errorf("%+v: code % x: %v, want ErrBadReport", c, last, err)
			}
		}
	}
}
