package fltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// suite is what the checks of one mechanism share. Checks change nothing in it.
type suite struct {
	round     fl.Round
	mechanism fl.Mechanism
	gradients [][]float64
	reports   [][]byte // good ones; report i is client i's
	seed      [32]byte
	biased    bool // by design
}

const (
	// elsewhere is where a mechanism is that was opened again.
	elsewhere    = "in another process"
	usualReports = 40
	// fewestReports is what the checks can be made with.
	fewestReports = 10
	// mostReports bounds what is encoded without being asked for.
	mostReports = 10_000
	// samples is how many inputs a check looks at that would learn nothing from more.
	samples = 6
)

func newSuite(r fl.Round, o Options) (*suite, error) {
	m, err := fl.Open(r)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	s := &suite{round: r, mechanism: m, gradients: o.Gradients, seed: o.Seed, biased: o.Biased}
	if len(s.gradients) == 0 {
		s.gradients = randomGradients(r, s.rand(1))
	}
	if err := checkGradients(r, s.gradients); err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	n := o.Reports
	switch least := max(r.MinReports, fewestReports); {
	case n == 0 && least > mostReports:
		return nil, fmt.Errorf("options: %w", fl.Invalid("min_reports", r.MinReports, "must be at most %d where the number of reports is left open", mostReports))
	case n == 0:
		n = max(usualReports, least)
	case n < least:
		return nil, fmt.Errorf("options: %w", fl.Invalid("reports", n, "must be at least %d, and min_reports = %d", fewestReports, r.MinReports))
	}
	rng := s.rand(2)
	for i := range n {
		report, err := m.Encode(nil, s.gradient(i), rng)
		if err != nil {
			return nil, fmt.Errorf("encode: gradient %d: %w", i%len(s.gradients), err)
		}
		s.reports = append(s.reports, report)
	}
	return s, nil
}

func checkGradients(r fl.Round, gradients [][]float64) error {
	for i, g := range gradients {
		if len(g) != r.Dim {
			return fl.Invalid("gradients", len(g), "must have dim = %d coordinates, gradient %d has not", r.Dim, i)
		}
	}
	return nil
}

// randomGradients returns gradients with an L1 norm of at most Scale, most of their
// coordinates not 0.
func randomGradients(r fl.Round, rng *rand.Rand) [][]float64 {
	gradients := make([][]float64, usualReports)
	for i := range gradients {
		gradients[i] = make([]float64, r.Dim)
		for j := range gradients[i] {
			if rng.IntN(4) > 0 {
				gradients[i][j] = (2*rng.Float64() - 1) * r.Scale / float64(r.Dim)
			}
		}
	}
	return gradients
}

// rand returns a generator of its own for every stream.
func (s *suite) rand(stream uint64) *rand.Rand {
	return rand.New(rand.NewChaCha8(sha256.Sum256(binary.LittleEndian.AppendUint64(s.seed[:], stream))))
}

// gradient returns client i's gradient. It is a copy, for the mechanism to damage.
func (s *suite) gradient(i int) []float64 {
	return append([]float64(nil), s.gradients[i%len(s.gradients)]...)
}

// filled returns an aggregator that counted some reports.
func (s *suite) filled(reports [][]byte) fl.Aggregator { return filled(s.mechanism, "here", reports) }

// filled returns an aggregator of m that counted some reports. It gets copies, to damage. where names m's process.
func filled(m fl.Mechanism, where string, reports [][]byte) fl.Aggregator {
	agg := m.NewAggregator()
	for i, report := range reports {
		if err := agg.Add(bytes.Clone(report)); err != nil {
			fail(fmt.Errorf("Add of good report %d %s: %w", i, where, err))
		}
	}
	return agg
}

// reopened returns the mechanism as another process gets it, from the bytes of the round.
func (s *suite) reopened() fl.Mechanism {
	data := must(s.round.MarshalBinary())
	var r fl.Round
	fail(r.UnmarshalBinary(data))
	return must(fl.Open(r))
}

// strangers are the mechanisms of rounds that differ in one thing.
func (s *suite) strangers() []named[fl.Mechanism] {
	id, seed := s.round, s.round
	if id.ID = "fltest-other"; id.ID == s.round.ID {
		id.ID = "fltest-another"
	}
	seed.PublicSeed = sha256.Sum256(seed.PublicSeed[:])
	var strangers []named[fl.Mechanism]
	for _, r := range []named[fl.Round]{{"another id", id}, {"another public seed", seed}} {
		m, err := fl.Open(r.value)
		if err != nil {
			fail(fmt.Errorf("open the same round with %s: %w", r.what, err))
		}
		strangers = append(strangers, named[fl.Mechanism]{r.what, m})
	}
	return strangers
}
