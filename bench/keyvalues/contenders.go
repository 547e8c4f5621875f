package keyvalues

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
	"github.com/hushgrad/hushgrad/sparse"
)

// contender is a mechanism in the figures of Wang et al., or another reading of one.
type contender struct {
	label string
	// of names the contender that this is another reading of; the figures draw it dashed.
	of string
	// reference is true of what is no mechanism.
	reference bool
	mechanism string // registered name; "" where there is none
	settings  func(at shape, epsilon float64) ([]setting, error)
	run       func(ctx context.Context, c *contender, p *population, epsilon float64, s setting, rng *rand.Rand) (estimate, error)
}

// setting is the parameters of a mechanism and what it is measured by with them.
type setting struct {
	params fl.Params
	// reports is the round's MinReports, at most the number of clients; 0: all.
	reports     int
	scale       float64 // the round's; 0: 1
	frequencies bool    // whether they are asked for
	by          []metric
}

// slots is the number of slots, 0 where there are none.
func (s setting) slots() int {
	t, err := s.params.Int(sparse.ParamSlots)
	if err != nil {
		return 0
	}
	return t
}

const (
	labelZero   = "0 for every key"
	labelPrivKV = "PrivKV"
	labelThree  = "PrivKV, 3-ary"
)

// Places in contenders.
const (
	byPrivKV = iota
	byThreeStates
	byGRR
	byAGRR
	byUE
	bySUCCINCT
	bySmallerClip
	byCollision
	byCoCo
	bySearchedCoCo
	byZero
)

var contenders = [...]contender{
	byPrivKV:       {label: labelPrivKV, mechanism: rivals.PrivKV, settings: plain, run: fromCounts},
	byThreeStates:  {label: labelThree, of: labelPrivKV, settings: plain, run: fromThreeStates},
	byGRR:          {label: "PCKV-GRR", mechanism: keyvalue.PCKVGRR, settings: padded, run: fromCounts},
	byAGRR:         {label: "PCKV-AGRR", mechanism: keyvalue.PCKVAGRR, settings: padded, run: fromCounts},
	byUE:           {label: "PCKV-UE", mechanism: keyvalue.PCKVUE, settings: padded, run: fromCounts},
	bySUCCINCT:     {label: "SUCCINCT", mechanism: rivals.Succinct, settings: clipped, run: fromVectors},
	bySmallerClip:  {label: "SUCCINCT, smaller clip", of: "SUCCINCT", mechanism: rivals.Succinct, settings: clippedMore, run: fromVectors},
	byCollision:    {label: "Collision", mechanism: collision.Name, settings: closedForm, run: fromVectors},
	byCoCo:         {label: "CoCo", mechanism: coco.Name, settings: closedForms, run: fromVectors},
	bySearchedCoCo: {label: "CoCo, t by search", of: "CoCo", mechanism: coco.Name, settings: searched, run: fromVectors},
	byZero:         {label: labelZero, reference: true, settings: ofMeans, run: zero},
}

var meanMetrics = []metric{meanMAE, meanMAEPost, meanTVEPost}

func plain(shape, float64) ([]setting, error) {
	return []setting{{frequencies: true, by: metrics}}, nil
}

func ofMeans(shape, float64) ([]setting, error) { return []setting{{by: meanMetrics}}, nil }

func padded(at shape, _ float64) ([]setting, error) {
	return []setting{{params: fl.Params{keyvalue.ParamPadding: fl.Int(at.sparsity)}, frequencies: true, by: metrics}}, nil
}

// clipped is SUCCINCT with the clip that its package proves.
func clipped(at shape, _ float64) ([]setting, error) {
	return []setting{{params: fl.Params{sparse.ParamSparsity: fl.Int(at.sparsity)}, by: meanMetrics}}, nil
}

// clippedMore is SUCCINCT with the constant 1 in η = O(√(s·ln(n/β))), for β = 0.1. The package's
// clip is about √(2s·ln(4m/β)) when the round is told of m reports.
func clippedMore(at shape, epsilon float64) ([]setting, error) {
	const beta = 0.1
	s, err := clipped(at, epsilon)
	s[0].reports = max(1, int(beta/4*math.Sqrt(float64(at.clients)/beta)))
	return s, err
}

// withSlots are the parameters of Collision and CoCo.
func withSlots(at shape, t int, hash string) fl.Params {
	return fl.Params{sparse.ParamSparsity: fl.Int(at.sparsity), sparse.ParamSlots: fl.Int(t), sparse.ParamHash: fl.Text(hash)}
}

// closedForm is Collision with the paper's t and hash functions.
func closedForm(at shape, epsilon float64) ([]setting, error) {
	s := float64(at.sparsity)
	t := int(math.Floor(s*math.Exp(epsilon) + 2*s - 1))
	return []setting{{params: withSlots(at, t, sparse.HashIdeal), frequencies: true, by: metrics}}, nil
}

// closedForms is CoCo with the paper's numbers of slots, one for frequencies and one for means, made
// even.
func closedForms(at shape, epsilon float64) ([]setting, error) {
	s := float64(at.sparsity)
	even := func(t float64) int { return 2 * int(math.Ceil(math.Ceil(t)/2)) }
	return []setting{
		{params: withSlots(at, even(s*math.Exp(epsilon)+5*s), sparse.HashIdeal), frequencies: true, by: []metric{frequencyTVE, frequencyMAE}},
		{params: withSlots(at, even(s*math.Exp(epsilon)+s+2), sparse.HashIdeal), frequencies: true, by: meanMetrics},
	}, nil
}

// searched is CoCo as rounds have it: the fast hash functions, and the number of slots that is best
// for what is estimated. Post-processed means need frequencies. The best number for
// means may not give any.
func searched(at shape, epsilon float64) ([]setting, error) {
	p := sparse.Point{Dim: at.dim, Sparsity: at.sparsity, Epsilon: epsilon, Hash: sparse.HashGF2}
	support, err := coco.Scheme.BestSlotsForFrequency(p)
	if err != nil {
		return nil, err
	}
	mean, err := coco.Scheme.BestSlots(p)
	return []setting{
		{params: withSlots(at, support, sparse.HashGF2), frequencies: true, by: []metric{frequencyTVE, frequencyMAE, meanMAEPost, meanTVEPost}},
		{params: withSlots(at, mean, sparse.HashGF2), by: []metric{meanMAE}},
	}, err
}

// zero estimates nothing.
func zero(_ context.Context, _ *contender, p *population, _ float64, _ setting, _ *rand.Rand) (estimate, error) {
	return estimate{mean: make([]float64, p.dim)}, nil
}
