//go:build !js

package abi

import (
	"context"
	"strings"

	"github.com/hushgrad/hushgrad/privacy/verify"
)

// verifyArgs are the arguments of verify: a round, and a part of verify.Options.
type verifyArgs struct {
	Round      uint64 `json:"round"`
	Method     string `json:"method"`
	Seeds      int    `json:"seeds"`
	Samples    int    `json:"samples"`
	Confidence number `json:"confidence"`
}

func (a verifyArgs) object() (string, uint64) { return "round", a.Round }

// verified is a verify.Report in JSON.
type verified struct {
	Holds           bool     `json:"holds"`
	Method          string   `json:"method"`
	EpsilonPromised number   `json:"epsilon_promised"`
	DeltaPromised   number   `json:"delta_promised"`
	EpsilonFound    number   `json:"epsilon_found"`
	Confidence      number   `json:"confidence"`
	Faults          []string `json:"faults"`
	Notes           []string `json:"notes"`
	// Tiers has one report for each tier of a menu.
	Tiers []verified `json:"tiers"`
}

// verifyAnswer is the answer of verify.
type verifyAnswer struct {
	verified
	// Explanation is the report as text.
	Explanation string `json:"explanation"`
}

func verifiedOf(r *verify.Report) verified {
	v := verified{
		Holds: r.Holds, Method: string(r.Method), EpsilonPromised: number(r.EpsilonPromised), DeltaPromised: number(r.DeltaPromised),
		EpsilonFound: number(r.EpsilonFound), Confidence: number(r.Confidence),
		Faults: append([]string{}, r.Faults...), Notes: append([]string{}, r.Notes...), Tiers: []verified{},
	}
	for _, tier := range r.Tiers {
		v.Tiers = append(v.Tiers, verifiedOf(tier))
	}
	return v
}

// verifyRound checks whether the code of this program keeps the guarantee of a round.
func verifyRound(ctx context.Context, _ *Session, r *round, args verifyArgs, _ []byte) (any, []byte, error) {
	report, err := verify.Mechanism(ctx, r.mechanism, r.Round, verify.Options{
		Method: verify.Method(args.Method), Seeds: args.Seeds, Samples: args.Samples, Confidence: float64(args.Confidence),
	})
	if err != nil {
		return nil, nil, err
	}
	var explanation strings.Builder
	if err := report.Write(&explanation); err != nil {
		return nil, nil, err
	}
	return verifyAnswer{verifiedOf(report), explanation.String()}, nil, nil
}
