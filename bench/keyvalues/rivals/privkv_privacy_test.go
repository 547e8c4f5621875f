package rivals_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/bigref"
	"github.com/hushgrad/hushgrad/keyvalue"
)

var privKVNames = []string{rivals.PrivKV, rivals.PrivKVM, rivals.KVUE}

// privKVRound asks for all columns.
func privKVRound(t testing.TB, name string, dim int, epsilon float64, params fl.Params) fl.Round {
	t.Helper()
	r := rivals.CompleteRound(t, name, dim, epsilon, params)
	r.Columns = keyvalue.Columns()
	return r
}

func open(t testing.TB, name string, dim int, epsilon float64, params fl.Params) fl.KeyValueMechanism {
	t.Helper()
	m, err := fl.Open(privKVRound(t, name, dim, epsilon, params))
	if err != nil {
		t.Fatal(err)
	}
	return m.(fl.KeyValueMechanism)
}

// inputs lists every set of keys below dim with every value of a grid.
func inputs(dim int) [][]fl.KeyValue {
	all := [][]fl.KeyValue{nil}
	for key := range uint32(dim) {
		for _, pairs := range all[:len(all):len(all)] {
			for _, v := range []float64{-1, 0, 0.3, 1} {
				all = append(all, append(pairs[:len(pairs):len(pairs)], fl.KeyValue{Key: key, Value: v}))
			}
		}
	}
	return all
}

// The largest ratio of the probabilities of a report under two inputs is below e^ε,
// by exact enumeration of all inputs and reports, and is the one of the comment
// of PrivKVM: e^ε itself for KVUE.
func TestPrivKVReportsArePrivate(t *testing.T) {
	for _, name := range privKVNames {
		for _, eps := range []float64{0.1, 1, 4, 15} {
			for dim := 1; dim <= 3; dim++ {
				t.Run(fmt.Sprintf("%s/eps=%g/d=%d", name, eps, dim), func(t *testing.T) {
					params, values, messages := fl.Params(nil), 1., 3
					switch name {
					case rivals.PrivKVM:
						params, values = fl.Params{"rounds": fl.Int(3)}, 3
					case rivals.KVUE:
						messages = 8
					}
					m := open(t, name, dim, eps, params).(interface {
						EncodeChoosing([]byte, []fl.KeyValue, exact.Chooser) ([]byte, error)
					})
					low, high := map[string]*big.Rat{}, map[string]*big.Rat{}
					for _, pairs := range inputs(dim) {
						law, err := exact.Enumerate(8, func(choose exact.Chooser) (string, error) {
							report, err := m.EncodeChoosing(nil, pairs, choose)
							return string(report), err
						})
						if err != nil {
							t.Fatal(err)
						}
						if len(law) != dim*messages {
							t.Fatalf("%v has %d reports, want %d", pairs, len(law), dim*messages)
						}
						sum := new(big.Rat)
						for report, p := range law {
							sum.Add(sum, p)
							if low[report] == nil || p.Cmp(low[report]) < 0 {
								low[report] = p
							}
							if high[report] == nil || p.Cmp(high[report]) > 0 {
								high[report] = p
							}
						}
						if sum.Cmp(big.NewRat(1, 1)) != 0 {
							t.Fatalf("the law of %v sums to %v", pairs, sum)
						}
					}
					worst := new(big.Rat)
					for report := range high {
						if ratio := new(big.Rat).Quo(high[report], low[report]); ratio.Cmp(worst) > 0 {
							worst = ratio
						}
					}
					if worst.Cmp(bigref.LowerExp(eps)) > 0 {
						t.Errorf("worst ratio %v, above e^ε", worst.FloatString(12))
					}
					want := math.Exp(eps)
					if name != rivals.KVUE {
						e1, e2 := math.Exp(eps/2), math.Exp(eps/2/values)
						want = max(e1*2/(1+1/e2), e2, (1+e2)/(2*e1))
					}
					if got, _ := worst.Float64(); math.Abs(got/want-1) > 1e-6 {
						t.Errorf("worst ratio %.9g, want %.9g", got, want)
					}
				})
			}
		}
	}
}
