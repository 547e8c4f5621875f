package abi

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/seal"
)

// description is a round in JSON. round.new takes it, and it is a part of the answer about
// a round.
type description struct {
	ID            string   `json:"id"`
	Mechanism     string   `json:"mechanism"`
	Dim           int      `json:"dim"`
	Scale         number   `json:"scale"`
	Epsilon       number   `json:"epsilon"`
	Delta         number   `json:"delta"`
	Relation      string   `json:"relation"`
	MinReports    int      `json:"min_reports"`
	TargetReports int      `json:"target_reports"`
	Columns       []string `json:"columns"`
	Params        params   `json:"params"`
	Shuffler      string   `json:"shuffler"`
	SealKey       []byte   `json:"seal_key"` // base64
	ShareKey      []byte   `json:"share_key"`
	Features      string   `json:"features"`
}

func describe(r fl.Round) description {
	return description{
		ID: r.ID, Mechanism: r.Mechanism, Dim: r.Dim, Scale: number(r.Scale), Epsilon: number(r.Epsilon), Delta: number(r.Delta),
		Relation: r.Relation.String(), MinReports: r.MinReports, TargetReports: r.TargetReports, Columns: append([]string{}, r.Columns...), Params: params(r.Params),
		Shuffler: r.Shuffler, SealKey: append([]byte{}, r.SealKey...), ShareKey: append([]byte{}, r.ShareKey...), Features: r.Features,
	}
}

// relation reads the name of a relation. The empty one is fl.ReplaceOne.
func relation(name string) (fl.Relation, error) {
	switch name {
	case "", fl.ReplaceOne.String():
		return fl.ReplaceOne, nil
	case fl.ZeroOut.String():
		return fl.ZeroOut, nil
	}
	return 0, fl.Invalid("relation", name, "must be %s or %s", fl.ReplaceOne, fl.ZeroOut)
}

// guarantee is an fl.Guarantee in JSON.
type guarantee struct {
	Trust       string `json:"trust"`
	Epsilon     number `json:"epsilon"`
	Delta       number `json:"delta"`
	Relation    string `json:"relation"`
	RealNumbers bool   `json:"real_numbers"`
}

func guaranteeOf(g fl.Guarantee) guarantee {
	return guarantee{Trust: g.Trust.String(), Epsilon: number(g.Epsilon), Delta: number(g.Delta), Relation: g.Relation.String(), RealNumbers: g.RealNumbers}
}

// round is an open round.
type round struct {
	fl.Round
	mechanism fl.Mechanism
	digest    [32]byte
	// accepted is the policy that has accepted the round; nil without, and then the round
	// does not encode.
	accepted *fl.Policy
	// terms are the policy's terms, in a round with a policy.
	terms fl.Terms
	// sealing is nil in a round without a shuffler.
	sealing *seal.ItemSealer
	// admission is nil in a round that asks for no tokens, and without a policy.
	admission *admission
	// narrow and wide are memory for a row.
	narrow []float32
	wide   []float64
}

// roundAnswer says what a round is.
type roundAnswer struct {
	Round uint64 `json:"round"`
	description
	// ReportBytes is the length of every report as encode returns it, or 0 where lengths vary.
	ReportBytes int    `json:"report_bytes"`
	Sealed      bool   `json:"sealed"`
	Digest      string `json:"digest"`
	// Guarantee is the guarantee of the client's report in a round with a policy.
	Guarantee guarantee `json:"guarantee"`
	// Central is null unless the policy pins the round's shuffler.
	Central *guarantee `json:"central"`
	Advice  []string   `json:"advice"`
	// TokenRequests are there in a round with a policy that asks for tokens: the second one is for the
	// shuffler.
	TokenRequests []tokenRequest `json:"token_requests,omitempty"`
}

func roundNew(_ context.Context, s *Session, d description, _ []byte) (any, []byte, error) {
	neighbours, err := relation(d.Relation)
	if err != nil {
		return nil, nil, err
	}
	r, m, err := fl.Complete(fl.Round{
		ID: d.ID, Mechanism: d.Mechanism, Dim: d.Dim, Scale: float64(d.Scale), Epsilon: float64(d.Epsilon), Delta: float64(d.Delta),
		Relation: neighbours, MinReports: d.MinReports, TargetReports: d.TargetReports, Columns: d.Columns, Params: fl.Params(d.Params),
		Shuffler: d.Shuffler, SealKey: d.SealKey, ShareKey: d.ShareKey, Features: d.Features, PublicSeed: fl.NewPublicSeed(),
	})
	if err != nil {
		return nil, nil, err
	}
	return s.holdRound(&round{Round: r, mechanism: m})
}

// roundOpenArgs are the arguments of round.open.
type roundOpenArgs struct {
	Policy *policy `json:"policy"`
	// MaxDim bounds the memory that a round without a policy takes; 0 means fl.DefaultMaxDim.
	MaxDim int `json:"max_dim"`
	// Tokens says that the caller fetches a token where the round asks for one.
	Tokens bool `json:"tokens"`
}

func roundOpen(_ context.Context, s *Session, args roundOpenArgs, payload []byte) (any, []byte, error) {
	demanded, err := args.Policy.parse()
	if err != nil {
		return nil, nil, err
	}
	opened := &round{accepted: demanded}
	if err := opened.UnmarshalBinary(payload); err != nil {
		if _, ok := errors.AsType[*fl.ParamError](err); !ok {
			err = fl.Invalid("description", fmt.Sprintf("%d bytes", len(payload)), "must be the canonical bytes of a round: %v", err)
		}
		return nil, nil, err
	}
	if most := cmp.Or(args.MaxDim, fl.DefaultMaxDim); demanded == nil && opened.Dim > most {
		return nil, nil, fl.Invalid("dim", opened.Dim, "must be at most max_dim = %d", most)
	}
	if demanded != nil {
		if err := demanded.CheckRound(opened.Round); err != nil {
			return nil, nil, err
		}
	}
	if opened.mechanism, err = fl.Open(opened.Round); err != nil {
		return nil, nil, err
	}
	if demanded != nil {
		if err := s.accept(opened, args.Tokens); err != nil {
			return nil, nil, err
		}
	}
	return s.holdRound(opened)
}

// accept checks a round against its policy.
func (s *Session) accept(r *round, tokens bool) (err error) {
	if len(r.IssuerKey) > 0 && !tokens {
		return fmt.Errorf("%w: %w", fl.ErrPolicy, fl.Invalid("issuer_key", fmt.Sprintf("%d bytes", len(r.IssuerKey)), "must be empty: this program fetches no tokens"))
	}
	r.terms, err = s.accepter.Accept(*r.accepted, r.Round, r.mechanism)
	return err
}

// holdRound makes a handle for a round and says what the round is.
func (s *Session) holdRound(r *round) (any, []byte, error) {
	canonical, err := r.MarshalBinary()
	if err != nil {
		return nil, nil, err
	}
	if r.digest, err = r.Digest(); err != nil {
		return nil, nil, err
	}
	if r.Shuffler != "" {
		if r.sealing, err = seal.NewItemSealer(r.Round, r.mechanism); err != nil {
			return nil, nil, err
		}
	}
	if r.accepted != nil && len(r.IssuerKey) > 0 {
		if r.admission, err = newAdmission(r.Round, r.digest); err != nil {
			return nil, nil, err
		}
	}
	handle, err := s.hold(r)
	if err != nil {
		return nil, nil, err
	}
	answer := roundAnswer{
		Round: handle, description: describe(r.Round), Sealed: r.sealing != nil, Digest: hex.EncodeToString(r.digest[:]),
		Guarantee: guaranteeOf(r.mechanism.Guarantee()), Advice: []string{},
		TokenRequests: r.admission.describe(),
	}
	if r.accepted != nil {
		answer.Guarantee = guaranteeOf(r.terms.Guarantee)
	}
	if r.terms.Central != (fl.Guarantee{}) {
		central := guaranteeOf(r.terms.Central)
		answer.Central = &central
	}
	if sizer, ok := r.mechanism.(fl.ReportSizer); ok {
		answer.ReportBytes = sizer.ReportBytes()
	}
	if r.sealing != nil {
		answer.ReportBytes = r.sealing.Format().Item()
	}
	if adviser, ok := r.mechanism.(fl.Adviser); ok {
		answer.Advice = append(answer.Advice, adviser.Advice()...)
	}
	return answer, canonical, nil
}
