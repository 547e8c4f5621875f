package conformance

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/binomial"
	"github.com/hushgrad/hushgrad/server/admit"
)

const (
	// falseAlarm bounds the probability that a case of Encode fails an encoder that is right.
	falseAlarm = 1e-7
	// maxRepeats is the largest number of seeds that may come twice. maxSampled seeds have 2^14·2^14/2^33 = 1/32 pairs
	// of equal ones on average, and more than 4 with a probability below 3e-10.
	maxRepeats = 4
	seedBits   = 32
)

// wrongReports returns what is wrong with an encoder's reports, or "". Each count of the reports is binomial. A count is
// wrong if one as far on its side has a probability of at most falseAlarm, divided by the number of tests.
func wrongReports(c Case, reports []byte) (string, error) {
	var r fl.Round
	if err := r.UnmarshalBinary(c.Round); err != nil {
		return "", err
	}
	m, err := fl.Open(r)
	if err != nil {
		return "", err
	}
	sized, ok := m.(fl.ReportSizer)
	if !ok {
		return "", fl.Invalid("mechanism", r.Mechanism, "must have reports of one size")
	}
	if size := sized.ReportBytes(); len(reports) != c.Reports*size {
		return fmt.Sprintf("%d bytes of reports, want %d reports of %d bytes", len(reports), c.Reports, size), nil
	}
	plus, minus, bits := make([]int, r.Dim), make([]int, r.Dim), make([]int, seedBits)
	var seeds []uint32
	for report := range slices.Chunk(reports, sized.ReportBytes()) {
		agg := m.NewAggregator()
		if err := agg.Add(report); err != nil {
			return fmt.Sprintf("report %x: %v", report, err), nil
		}
		all, err := countsOf(r, m, agg)
		if err != nil {
			return "", err
		}
		for j, v := range all {
			plus[j] += max(v, 0)
			minus[j] += max(-v, 0)
		}
		seed := binary.LittleEndian.Uint32(report)
		if want := admit.Seed(c.Token); len(c.Token) > 0 && seed != want {
			return fmt.Sprintf("report %x has the seed %d, want the token's, %d", report, seed, want), nil
		}
		for b := range bits {
			bits[b] += int(seed >> b & 1)
		}
		seeds = append(seeds, seed)
	}
	tests := 2 * (2*r.Dim + seedBits) // two sides each
	for j := range r.Dim {
		for _, t := range []struct {
			sign string
			n    int
			p    float64
		}{{"+1", plus[j], c.Law.Plus[j]}, {"-1", minus[j], c.Law.Minus[j]}} {
			if tail(t.n, c.Reports, t.p) <= falseAlarm/float64(tests+1) {
				return fmt.Sprintf("%d of %d reports count %s at coordinate %d, want about %.0f", t.n, c.Reports, t.sign, j, t.p*float64(c.Reports)), nil
			}
		}
	}
	if len(c.Token) > 0 {
		return "", nil
	}
	for b, n := range bits {
		if tail(n, c.Reports, 0.5) <= falseAlarm/float64(tests+1) {
			return fmt.Sprintf("%d of %d seeds have a 1 as bit %d, want about %d", n, c.Reports, b, c.Reports/2), nil
		}
	}
	slices.Sort(seeds)
	if repeats := len(seeds) - len(slices.Compact(seeds)); repeats > maxRepeats {
		return fmt.Sprintf("%d of %d seeds came before, want at most %d", repeats, c.Reports, maxRepeats), nil
	}
	return "", nil
}

// tail returns the probability that a binomial number is at least as far from its mean as k, on k's side.
func tail(k, n int, p float64) (sum float64) {
	lo, row := k, make([]float64, n-k+1)
	if float64(k) < float64(n)*p {
		lo, row = 0, make([]float64, k+1)
	}
	binomial.Row(row, lo, n, p, 1-p)
	for _, v := range row {
		sum += v
	}
	return sum
}
