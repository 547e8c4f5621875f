package abi

import (
	"fmt"
	"slices"
	"strings"

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
	ShareKeys       []string `json:"share_keys"`
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
	if err := p.check(); err != nil {
		return nil, err
	}
	pins, err := p.Shuffled.parse()
	return &fl.Policy{
		MaxEpsilon: float64(p.MaxEpsilon), MaxDelta: float64(p.MaxDelta), MinReports: p.MinReports, MaxDim: p.MaxDim,
		TrustShuffler: p.TrustShuffler, Shuffled: pins, Relation: weakest, AcceptRealNumbers: p.AcceptRealNumbers, Mechanisms: p.Mechanisms, Features: p.Features,
	}, err
}

// check refuses what no round could mean: such a policy is a slip, and not a demand.
func (p *policy) check() error {
	if err := checkBudget("max_epsilon", "max_delta", p.MaxEpsilon, p.MaxDelta); err != nil {
		return err
	}
	if p.MinReports < 0 {
		return fl.Invalid("min_reports", p.MinReports, "must be at least 0")
	}
	if p.MaxDim < 0 {
		return fl.Invalid("max_dim", p.MaxDim, "must be at least 0")
	}
	known := fl.Mechanisms()
	if p.Mechanisms != nil && len(p.Mechanisms) == 0 {
		return fl.Invalid("mechanisms", "no names", "must be some of %s, or left out", strings.Join(known, ", "))
	}
	for i, name := range p.Mechanisms {
		if !slices.Contains(known, name) {
			return fl.Invalid(fmt.Sprintf("mechanisms[%d]", i), name, "must be one of %s", strings.Join(known, ", "))
		}
	}
	return nil
}

// checkBudget refuses limits that are below 0, and a δ that is no probability.
func checkBudget(epsilonName, deltaName string, epsilon, delta number) error {
	if !(epsilon >= 0) {
		return fl.Invalid(epsilonName, float64(epsilon), "must be at least 0")
	}
	if !(delta >= 0 && delta <= 1) {
		return fl.Invalid(deltaName, float64(delta), "must be in [0, 1]")
	}
	return nil
}

func (p *shuffledPolicy) parse() (*fl.ShuffledPolicy, error) {
	if p == nil {
		return nil, nil
	}
	if !(p.MaxEpsilonLocal >= 0) {
		return nil, fl.Invalid("shuffled.max_epsilon_local", float64(p.MaxEpsilonLocal), "must be at least 0")
	}
	if err := checkBudget("shuffled.max_epsilon", "shuffled.max_delta", p.MaxEpsilon, p.MaxDelta); err != nil {
		return nil, err
	}
	out := &fl.ShuffledPolicy{
		Shufflers: p.Shufflers, MaxEpsilonLocal: float64(p.MaxEpsilonLocal), MaxEpsilon: float64(p.MaxEpsilon), MaxDelta: float64(p.MaxDelta),
	}
	var err error
	if out.SealKeys, err = fingerprints("seal_keys", p.SealKeys); err == nil {
		out.ShareKeys, err = fingerprints("share_keys", p.ShareKeys)
	}
	return out, err
}

func fingerprints(name string, texts []string) (out [][32]byte, err error) {
	for i, text := range texts {
		key, err := seal.ParseFingerprint(text)
		if err != nil {
			return nil, fl.Invalid(fmt.Sprintf("%s[%d]", name, i), text, "must be the SHA-256 of a key, 64 hexadecimal digits")
		}
		out = append(out, key)
	}
	return out, nil
}
