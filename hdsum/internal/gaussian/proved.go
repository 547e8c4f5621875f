package gaussian

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// ParamProof is the parameter of SharesName that has each client prove that its vector is short. Its only value is Prio3.
const (
	ParamProof = "proof"
	Prio3      = "prio3"
)

// proved is the mechanism of two servers with proofs in one round.
type proved struct {
	*mechanism
	proofs *proofs
}

var _ fl.ProvedMechanism = (*proved)(nil)

func newProved(r fl.Round) (*proved, error) {
	switch kind, err := r.Params.Text(ParamProof); {
	case err != nil:
		return nil, err
	case kind != Prio3:
		return nil, fl.Invalid(ParamProof, kind, "must be %s", Prio3)
	case r.Params.Has(fl.ParamRecords):
		return nil, fl.Invalid(ParamProof, kind, "must not be there with %s: no proof says that each record of a sum is short", fl.ParamRecords)
	case r.Dim > maxProved:
		return nil, fl.Invalid("dim", r.Dim, "must be at most %d with %s: shares would be too long", maxProved, ParamProof)
	}
	v, err := newVectors(r, provedGrid, shareParams...)
	if err != nil {
		return nil, err
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	p, err := newProofs(v.padded(), v.integers.most, digest)
	return &proved{mechanism: &mechanism{vectors: v, sharing: p}, proofs: p}, err
}

// Sway implements fl.Swayer: a proved vector is as short as an honest one.
func (p *proved) Sway() float64 {
	return p.integers.clip / p.integers.units * math.Sqrt(float64(p.integers.most))
}

// PrepShareBytes implements fl.ProvedMechanism.
func (p *proved) PrepShareBytes() int { return p.proofs.preparedBytes() }

// AppendPrepShare implements fl.ProvedMechanism. O(d' log d').
func (p *proved) AppendPrepShare(dst []byte, key *fl.VerifyKey, share []byte) ([]byte, error) {
	err := p.checkLength(fl.SecondServer, share)
	if err == nil {
		dst, err = p.proofs.appendPrepared(dst, key, share)
	}
	if err != nil {
		return dst, p.round.Wrap("prepare", err)
	}
	return dst, nil
}

// CheckShare implements fl.ProvedMechanism. O(d' log d').
func (p *proved) CheckShare(key *fl.VerifyKey, share, prepared []byte) error {
	err := p.checkLength(fl.FirstServer, share)
	if err == nil {
		err = p.proofs.verify(key, share, prepared)
	}
	if err != nil {
		return p.round.Wrap("check", err)
	}
	return nil
}
