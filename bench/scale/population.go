package scale

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/sparse"
)

// pool is the number of gradients that clients share.
const pool = 32

// target is the coordinate that liars move.
const target = 0

// population is the clients of one round.
type population struct {
	*setting
	seed      uint64
	clients   int
	round     fl.Round
	digest    [32]byte
	mechanism fl.SparseMechanism
	gradients [pool][]float64
	// What liars need: the round's hash functions, and how a report is written.
	family sparse.HashFamily
	codec  sparse.Codec
	// gain is the estimate of the target that one report of a liar gives, in units of the gradient.
	gain float64
	mse  float64 // of a report, summed over the coordinates, in squared units of the gradient
}

// newPopulation describes the round and draws the gradients.
func newPopulation(s *setting, seed uint64, clients int) (*population, error) {
	r := fl.Round{
		ID: "scale", Mechanism: coco.Name, Dim: s.dim, Scale: 1, Epsilon: s.epsilon, Relation: fl.ReplaceOne,
		MinReports: 1, Params: fl.Params{sparse.ParamSparsity: fl.Int(s.sparsity)},
	}
	rng := experiment.Stream(seed, 1, uint64(clients))
	for i := range r.PublicSeed {
		r.PublicSeed[i] = byte(rng.Uint32())
	}
	r, m, err := fl.Complete(r)
	if err != nil {
		return nil, err
	}
	p := &population{setting: s, seed: seed, clients: clients, round: r, mechanism: m.(fl.SparseMechanism)}
	if p.digest, err = r.Digest(); err != nil {
		return nil, err
	}
	point := sparse.Point{Dim: s.dim, Sparsity: s.sparsity, Epsilon: s.epsilon}
	if point.Slots, err = r.Params.Int(sparse.ParamSlots); err != nil {
		return nil, err
	}
	if point.Hash, err = r.Params.Text(sparse.ParamHash); err != nil {
		return nil, err
	}
	calibration, err := coco.Scheme.Calibration(point)
	if err != nil {
		return nil, err
	}
	p.gain = r.Scale / (calibration.In.Own - calibration.In.Opposite)
	p.mse = r.Scale * r.Scale * calibration.MeanMSE(s.dim, s.sparsity)
	key, err := r.PublicKey(coco.Name + "/hash")
	if err != nil {
		return nil, err
	}
	p.family, err = sparse.NewHashFamily(point.Hash, sparse.HashShape{Layout: sparse.Paired, Dim: s.dim, Sparsity: s.sparsity, Slots: point.Slots}, key)
	p.codec = sparse.NewCodec(point.Slots)
	p.draw(rng)
	return p, err
}

// draw draws the gradients: a part that all share, a part of their own, and the L1 norm to which
// clients clip, so that clipping changes nothing but a rounding error.
func (p *population) draw(rng *rand.Rand) {
	common := make([]float64, p.dim)
	for j := range common {
		common[j] = rng.NormFloat64()
	}
	for g := range p.gradients {
		grad, norm := make([]float64, p.dim), 0.0
		for j := range grad {
			grad[j] = common[j] + rng.NormFloat64()
			norm += math.Abs(grad[j])
		}
		for j := range grad {
			grad[j] *= p.round.Scale * float64(p.sparsity) / norm
		}
		p.gradients[g] = grad
	}
}

// messages is how many messages the clients send at most.
func (p *population) messages() int { return (p.clients + p.batch - 1) / p.batch }

// message is what a group of clients sends.
type message struct {
	request      *service.SubmitReportsRequest // nil when all dropped out
	reports      int
	dropped      int // clients that sent nothing
	late, resent bool
	honest, lies [pool]int // clients by gradient
}

// sender encodes the reports of groups. It is not safe for concurrent use.
type sender struct {
	*population
	hash sparse.HashFunc
}

func (p *population) sender() *sender { return &sender{p, p.family.Func()} }

// stream is the randomness of message number i.
func (p *population) stream(i int) *rand.Rand {
	return experiment.Stream(p.seed, 2, uint64(p.clients), uint64(i))
}

// isLate draws whether a message comes late, before anything else about it.
func (p *population) isLate(rng *rand.Rand) bool { return rng.Float64() < p.rates.late }

// message returns message number i. It is the same whenever it is made.
func (s *sender) message(i int) (*message, error) {
	rng := s.stream(i)
	m := &message{late: s.isLate(rng), resent: rng.Float64() < s.rates.resend}
	packed := make([]byte, 0, s.batch*s.codec.Bytes())
	var err error
	for range min(s.batch, s.clients-i*s.batch) {
		g, drops, lies := rng.IntN(pool), rng.Float64() < s.rates.dropout, rng.Float64() < s.rates.lie
		switch {
		case drops:
			m.dropped++
			continue
		case lies:
			m.lies[g]++
			packed = s.lie(packed, rng)
		default:
			m.honest[g]++
			if packed, err = s.mechanism.Encode(packed, s.gradients[g], rng); err != nil {
				return nil, err
			}
		}
		m.reports++
	}
	if m.reports == 0 {
		return m, nil
	}
	key := binary.BigEndian.AppendUint64(make([]byte, 8, 16), uint64(i))
	m.request = &service.SubmitReportsRequest{RoundId: s.round.ID, RoundDigest: s.digest[:], BatchKey: key, Reports: packed}
	return m, nil
}

// lie appends the report whose slot is the slot of the target with the sign +, under a hash function
// drawn at random.
func (s *sender) lie(dst []byte, rng *rand.Rand) []byte {
	seed := rng.Uint32()
	s.hash.Bind(seed)
	return s.codec.Append(dst, sparse.Report{Seed: seed, Slot: sparse.Paired.Item(s.hash, target, 1)})
}
