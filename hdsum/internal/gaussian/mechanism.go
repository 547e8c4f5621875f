package gaussian

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// mechanism is the mechanism of two servers in one round, with Round.Scale as the clip norm.
type mechanism struct {
	*vectors
	sharing sharing
}

var (
	_ fl.SharedMechanism = (*mechanism)(nil)
	_ fl.OwnNoised       = (*mechanism)(nil)
	_ fl.HonestNoised    = (*mechanism)(nil)
	_ fl.RecordMechanism = (*mechanism)(nil)
	_ fl.ReportSizer     = (*mechanism)(nil)
)

// bothNoises is how many noises are in the sum of both servers.
const bothNoises = 2

func newMechanism(r fl.Round) (*mechanism, error) {
	v, err := newVectors(r, fine, shareParams...)
	if err != nil {
		return nil, err
	}
	ring, err := v.ring(bothNoises)
	return &mechanism{vectors: v, sharing: masks{ring}}, err
}

// Encode implements fl.Mechanism. A report is both shares, the first server's first:
// whoever reads it reads the gradient.
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	first, second, err := m.EncodeShares(dst, nil, grad, rng)
	return append(first, second...), err
}

// EncodeShares implements fl.SharedMechanism. Expected time O(d' log d').
func (m *mechanism) EncodeShares(first, second []byte, grad []float64, rng *rand.Rand) ([]byte, []byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	x, err := m.integers.of(grad, rng)
	if err != nil {
		return first, second, m.round.Wrap("encode", err)
	}
	first, second = m.split(first, second, x, 1, rng)
	return first, second, nil
}

// split appends the two shares of a vector, the sum of a number of records, to which it adds the client's noise.
func (m *mechanism) split(first, second []byte, x []int64, records int64, rng *rand.Rand) ([]byte, []byte) {
	if m.records > 0 {
		first = binary.LittleEndian.AppendUint32(first, uint32(records))
		second = binary.LittleEndian.AppendUint32(second, uint32(records))
	}
	m.added.add(x, rng)
	return m.sharing.split(first, second, x, rng)
}

// Guarantee implements fl.Mechanism. It holds against either server, whatever that server and the other clients do, as long
// as the other server is honest. It does not hold against a party that reads both shares.
func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.TwoServers, Epsilon: m.round.Epsilon, Delta: m.round.Delta, Relation: m.round.Relation, Sigma: m.multiplier(m.noise.sigma)}
}

// OwnGuarantee implements fl.OwnNoised.
func (m *mechanism) OwnGuarantee() (fl.Guarantee, bool) {
	if m.added == nil || m.added.honest > 0 {
		return fl.Guarantee{}, false
	}
	return m.addedGuarantee(fl.Local), true
}

// HonestGuarantee implements fl.HonestNoised.
func (m *mechanism) HonestGuarantee() (g fl.Guarantee, reports int, ok bool) {
	if m.added == nil || m.added.honest == 0 {
		return fl.Guarantee{}, 0, false
	}
	return m.addedGuarantee(fl.TwoServers), int(m.added.honest), true
}

// addedGuarantee is what the clients' noise promises, with the servers' where the trust is TwoServers.
func (m *mechanism) addedGuarantee(trust fl.Trust) fl.Guarantee {
	return fl.Guarantee{Trust: trust, Epsilon: m.added.epsilon, Delta: m.round.Delta, Relation: m.round.Relation, Sigma: m.multiplier(m.added.sigma)}
}

// ReportBytes implements fl.ReportSizer, for both shares together.
func (m *mechanism) ReportBytes() int {
	return m.ShareBytes(fl.FirstServer) + m.ShareBytes(fl.SecondServer)
}

// ShareBytes implements fl.SharedMechanism.
func (m *mechanism) ShareBytes(side fl.ShareSide) int {
	if side != fl.FirstServer && side != fl.SecondServer {
		return 0
	}
	return m.head() + m.sharing.shareBytes(side)
}

// StandardError is the standard error of a coordinate of the mean of vectors that arrive in a number of reports.
func (m *mechanism) StandardError(vectors, reports int) float64 {
	return m.standardError(int64(vectors), int64(reports), bothNoises)
}

// estimate decodes the sum of both servers' releases.
func (m *mechanism) estimate(t *total, reports int64) (*fl.Estimate, error) {
	return m.vectors.estimate(t.sum, reports, t.records, bothNoises, m.Guarantee())
}
