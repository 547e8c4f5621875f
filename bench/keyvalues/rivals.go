package keyvalues

import (
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// rival is a mechanism in the figures of the PCKV paper.
type rival struct {
	label, mechanism string
	params           fl.Params
	by               rivals.Allocation // for PCKV
}

var (
	privkvmOne     = rival{label: "PrivKVM (c = 1)", mechanism: rivals.PrivKVM, params: fl.Params{rivals.ParamVirtual: fl.Int(0)}}
	privkvmVirtual = rival{label: "PrivKVM (1r5v)", mechanism: rivals.PrivKVM, params: fl.Params{rivals.ParamVirtual: fl.Int(5)}}
	privkvmReal    = rival{label: "PrivKVM (c = 5)", mechanism: rivals.PrivKVM, params: fl.Params{rivals.ParamRounds: fl.Int(5), rivals.ParamVirtual: fl.Int(0)}}
	kvue           = rival{label: "KVUE", mechanism: rivals.KVUE}
	pckvUE         = rival{label: "PCKV-UE", mechanism: keyvalue.PCKVUE}
	pckvGRR        = rival{label: "PCKV-GRR", mechanism: keyvalue.PCKVAGRR} // Lemma 3, whose budget grows with padding
	allRivals      = []rival{privkvmOne, privkvmVirtual, kvue, pckvUE, pckvGRR}
)

// isPCKV reports whether a rival is one of the paper's own.
func (r rival) isPCKV() bool {
	return r.mechanism == keyvalue.PCKVUE || r.mechanism == keyvalue.PCKVAGRR
}

// estimates runs one round over the clients: what is estimated of each key, means among the holders and
// frequencies. Frequencies are corrected into [1/n, 1], as Algorithm 4 says.
func (r rival) estimates(data dataset, dim, padding int, epsilon float64, rng *rand.Rand) (frequencies, means []float64, err error) {
	frequencies, means, err = r.uncorrected(data, dim, padding, epsilon, rng)
	for k, f := range frequencies {
		frequencies[k] = min(max(f, 1/float64(data.clients())), 1)
	}
	return frequencies, means, err
}

// uncorrected leaves the frequencies as they are. The registered mechanisms have the optimized
// allocation. With another allocation the estimate is Algorithm 4's with the allocation's channel.
func (r rival) uncorrected(data dataset, dim, padding int, epsilon float64, rng *rand.Rand) (frequencies, means []float64, err error) {
	if r.by != rivals.Optimized {
		ch, err := channelOf(r.by, r.mechanism, epsilon, dim, padding)
		if err != nil {
			return nil, nil, err
		}
		counts := pckvCounts(r.mechanism, ch, data, padding, rng)
		frequencies, means = make([]float64, dim), make([]float64, dim)
		for k := range dim {
			frequencies[k], means[k] = ch.Estimate(padding, float64(counts.Plus[k]), float64(counts.Minus[k]), float64(counts.Reports))
		}
		return frequencies, means, nil
	}
	round := fl.Round{
		ID: "bench", Mechanism: r.mechanism, Dim: dim, Scale: 1, Epsilon: epsilon, MinReports: data.clients(),
		Columns: []string{fl.ColumnFrequency, fl.ColumnConditional}, Params: maps.Clone(r.params),
	}
	if r.isPCKV() {
		round.Params = fl.Params{keyvalue.ParamPadding: fl.Int(padding)}
	}
	o, err := openRound(round, rng)
	if err != nil {
		return nil, nil, err
	}
	if err := simulate(o.round, o.agg, data, rng); err != nil {
		return nil, nil, err
	}
	e, err := o.agg.Estimate()
	if err != nil {
		return nil, nil, err
	}
	frequency, ok := e.Column(fl.ColumnFrequency)
	conditional, both := e.Column(fl.ColumnConditional)
	if !ok || !both {
		return nil, nil, fmt.Errorf("%s has no frequencies or no means", r.mechanism)
	}
	if r.mechanism == rivals.PrivKVM {
		means, err = iterate(o.round, data, conditional.Value, rng)
		return frequency.Value, means, err
	}
	return frequency.Value, conditional.Value, nil
}
