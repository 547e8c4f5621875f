package abi

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/seal"
)

// policy is an fl.Policy in JSON.
type policy struct {
	MaxEpsilon        number   `json:"max_epsilon"`
	MaxDelta          number   `json:"max_delta"`
	MinReports        int      `json:"min_reports"`
	MaxDim            int      `json:"max_dim"`
	TrustShuffler     bool     `json:"trust_shuffler"`
	Relation          string   `json:"relation"`
	AcceptRealNumbers bool     `json:"accept_real_numbers"`
	Mechanisms        []string `json:"mechanisms"`
	Features          string   `json:"features"`
	// Shuffled is null in a policy that pins no shuffler.
	Shuffled *shuffledPolicy `json:"shuffled"`
}

// shuffledPolicy is an fl.ShuffledPolicy in JSON.
type shuffledPolicy struct {
	Shufflers       []string `json:"shufflers"`
	SealKeys        []string `json:"seal_keys"` // SHA-256, hexadecimal
	MaxEpsilonLocal number   `json:"max_epsilon_local"`
	MaxEpsilon      number   `json:"max_epsilon"`
	MaxDelta        number   `json:"max_delta"`
}

func (p *policy) parse() (*fl.Policy, error) {
	if p == nil {
		return nil, nil
	}
	weakest, err := relation(p.Relation)
	if err != nil {
		return nil, err
	}
	pins, err := p.Shuffled.parse()
	return &fl.Policy{
		MaxEpsilon: float64(p.MaxEpsilon), MaxDelta: float64(p.MaxDelta), MinReports: p.MinReports, MaxDim: p.MaxDim,
		TrustShuffler: p.TrustShuffler, Shuffled: pins, Relation: weakest, AcceptRealNumbers: p.AcceptRealNumbers, Mechanisms: p.Mechanisms, Features: p.Features,
	}, err
}

func (p *shuffledPolicy) parse() (*fl.ShuffledPolicy, error) {
	if p == nil {
		return nil, nil
	}
	out := &fl.ShuffledPolicy{
		Shufflers: p.Shufflers, MaxEpsilonLocal: float64(p.MaxEpsilonLocal), MaxEpsilon: float64(p.MaxEpsilon), MaxDelta: float64(p.MaxDelta),
	}
	for i, text := range p.SealKeys {
		key, err := seal.ParseFingerprint(text)
		if err != nil {
			return nil, fl.Invalid(fmt.Sprintf("seal_keys[%d]", i), text, "must be the SHA-256 of a key, 64 hexadecimal digits")
		}
		out.SealKeys = append(out.SealKeys, key)
	}
	return out, nil
}
