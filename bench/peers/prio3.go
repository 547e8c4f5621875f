package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/cloudflare/circl/vdaf/prio3/sumvec"
)

// aggregators is the number of parties that hold shares, the least Prio3 allows.
// Number 0 is the leader, number 1 the helper.
const aggregators = 2

// application separates the hash functions of this program from other programs' hash functions.
var application = []byte("hushgrad bench/peers")

// vdaf is what the aggregators need of circl's SumVec and Histogram. Both work
// in the same field, so that all their messages have the same types.
type vdaf interface {
	PrepInit(*sumvec.VerifyKey, *sumvec.Nonce, uint8, sumvec.PublicShare, sumvec.InputShare) (*sumvec.PrepState, *sumvec.PrepShare, error)
	PrepSharesToPrep([]sumvec.PrepShare) (*sumvec.PrepMessage, error)
	PrepNext(*sumvec.PrepState, *sumvec.PrepMessage) (*sumvec.OutShare, error)
	AggregateInit() sumvec.AggShare
	AggregateUpdate(*sumvec.AggShare, *sumvec.OutShare)
	Unshard([]sumvec.AggShare, uint) (*[]uint64, error)
}

// blanks makes empty messages of the right shape, to decode into. circl shapes
// them by a type that cannot be named here.
type blanks struct {
	input       func(aggregator uint) *sumvec.InputShare
	prepShare   func() *sumvec.PrepShare
	prepMessage func() *sumvec.PrepMessage
}

// prio3 is the part that is common to all Prio3 contenders: both aggregators and
// the encoding of reports.
type prio3 struct {
	vdaf
	blanks
	src     *rand.ChaCha8
	rand    []byte // coins of one client
	key     sumvec.VerifyKey
	totals  [aggregators]sumvec.AggShare
	reports uint
}

func newPrio3(v vdaf, b blanks, randSize uint, src *rand.ChaCha8) (*prio3, error) {
	p := &prio3{vdaf: v, blanks: b, src: src, rand: make([]byte, randSize)}
	if _, err := src.Read(p.key[:]); err != nil {
		return nil, err
	}
	for i := range p.totals {
		p.totals[i] = v.AggregateInit()
	}
	return p, nil
}

// chunkLength is the recommendation of the draft: the square root of the number
// of field elements.
func chunkLength(elements int) uint { return uint(math.Sqrt(float64(elements))) }

// between is the number of bytes per report that the aggregators exchange when
// the leader sends its preparation share and the helper answers with the
// preparation message.
func (p *prio3) between() (int, error) {
	share, err := p.prepShare().MarshalBinary()
	if err != nil {
		return 0, err
	}
	message, err := p.prepMessage().MarshalBinary()
	return len(share) + len(message), err
}

// shard splits one measurement and encodes what the client sends.
func shard[M any](
	p *prio3, measurement M,
	split func(M, *sumvec.Nonce, []byte) (sumvec.PublicShare, []sumvec.InputShare, error),
) (report, error) {
	var nonce sumvec.Nonce
	if _, err := p.src.Read(nonce[:]); err != nil {
		return report{}, err
	}
	if _, err := p.src.Read(p.rand); err != nil {
		return report{}, err
	}
	public, inputs, err := split(measurement, &nonce, p.rand)
	if err != nil {
		return report{}, err
	}
	r := report{nonce: nonce[:], parts: make([][]byte, 1+aggregators)}
	if r.parts[0], err = public.MarshalBinary(); err != nil {
		return report{}, err
	}
	for i := range inputs {
		if r.parts[1+i], err = inputs[i].MarshalBinary(); err != nil {
			return report{}, err
		}
	}
	return r, nil
}

// add runs both aggregators. Preparation has one round: the leader sends its
// share to the helper, which combines the two and answers with the message.
func (p *prio3) add(r report) error {
	if len(r.parts) != 1+aggregators {
		return fmt.Errorf("peers: report: got %d parts, must have %d", len(r.parts), 1+aggregators)
	}
	if len(r.nonce) != len(sumvec.Nonce{}) {
		return fmt.Errorf("peers: report: nonce: got %d bytes, must be %d", len(r.nonce), len(sumvec.Nonce{}))
	}
	nonce := sumvec.Nonce(r.nonce)
	leader, share, err := p.prepare(0, &nonce, r)
	if err != nil {
		return err
	}
	sent, err := share.MarshalBinary()
	if err != nil {
		return err
	}

	helper, own, err := p.prepare(1, &nonce, r)
	if err != nil {
		return err
	}
	received := p.prepShare()
	if err := received.UnmarshalBinary(sent); err != nil {
		return err
	}
	message, err := p.PrepSharesToPrep([]sumvec.PrepShare{*received, *own})
	if err != nil {
		return err
	}
	helperOut, err := p.PrepNext(helper, message)
	if err != nil {
		return err
	}
	if sent, err = message.MarshalBinary(); err != nil {
		return err
	}

	answer := p.prepMessage()
	if err := answer.UnmarshalBinary(sent); err != nil {
		return err
	}
	leaderOut, err := p.PrepNext(leader, answer)
	if err != nil {
		return err
	}
	p.AggregateUpdate(&p.totals[0], leaderOut)
	p.AggregateUpdate(&p.totals[1], helperOut)
	p.reports++
	return nil
}

// prepare decodes and checks one aggregator's share.
func (p *prio3) prepare(aggregator uint8, nonce *sumvec.Nonce, r report) (*sumvec.PrepState, *sumvec.PrepShare, error) {
	input := p.input(uint(aggregator))
	if err := input.UnmarshalBinary(r.parts[1+aggregator]); err != nil {
		return nil, nil, err
	}
	return p.PrepInit(&p.key, nonce, aggregator, sumvec.PublicShare(r.parts[0]), *input)
}

// open puts the two totals together.
func (p *prio3) open() ([]uint64, error) {
	counts, err := p.Unshard(p.totals[:], p.reports)
	if err != nil {
		return nil, err
	}
	return *counts, nil
}
