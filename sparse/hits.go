package sparse

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

var _ fl.HitMechanism = (*mechanism)(nil)

// AddHits implements fl.HitMechanism, by the calibration. It needs the hash "ideal", or one entry a report: a labelling of the hash "gf2" treats any
// three labels alike, but not more of them, see HashFamily.
func (m *mechanism) AddHits(plus, minus, grad []float64) error {
	if m.aliasing > 0 {
		return fmt.Errorf("%s: hits: the labels of a round move them: %w", m.round.Mechanism, errors.ErrUnsupported)
	}
	if s := m.point.Sparsity; s > 1 && m.point.Hash != HashIdeal {
		return fmt.Errorf("%s: hits: %w: %w", m.round.Mechanism, fl.Invalid(ParamHash, cmp.Or(m.point.Hash, HashGF2), "must be %s with more than one entry a report: otherwise the labels of a round move the probabilities", HashIdeal), errors.ErrUnsupported)
	}
	if len(plus) != m.round.Dim || len(minus) != m.round.Dim {
		return fmt.Errorf("%s: hits: %w", m.round.Mechanism, fl.Invalid("hits", min(len(plus), len(minus)), "must have dim = %d coordinates", m.round.Dim))
	}
	e, err := m.encoder()
	if err != nil {
		return err
	}
	defer m.encoders.Put(e)
	x := make([]float64, m.round.Dim)
	if err := e.ternarizer.Chances(x, grad); err != nil {
		return fmt.Errorf("%s: hits: %w", m.round.Mechanism, err)
	}
	in, out := m.calibration.In, m.calibration.Out
	own, opposite, other := in.Own-in.Both, in.Opposite-in.Both, out.Own-out.Both // a report that hits both counts for nothing
	for j, v := range x {
		p, q := plus, minus
		if v < 0 {
			p, q, v = minus, plus, -v
		}
		p[j] += v*own + (1-v)*other
		q[j] += v*opposite + (1-v)*other
	}
	return nil
}
