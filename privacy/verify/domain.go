package verify

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// domain is what the exact method enumerates: inputs by number, and how their reports are made.
type domain struct {
	inputs []string // as they are printed
	// report returns the function that makes a report of an input under a seed from its choices.
	report func(input int, seed uint32) (func(choose Chooser) ([]byte, error), error)
	// encode makes a report of an input as clients do. It draws the seed first.
	encode func(input int, rng *rand.Rand) ([]byte, error)
	// encodeName and reportName are the methods behind encode and report.
	encodeName, reportName string
	sampled                string // what of the domain is a sample
}

// ternaryDomain has the ternary vectors that the encoder of m accepts.
func ternaryDomain(m Enumerable, vectors []fl.Ternary) domain {
	d := domain{encodeName: "EncodeTernary", reportName: "EncodeChoosing", sampled: "the result holds for the seeds tried, a sample of the hash functions that occur"}
	for _, x := range vectors {
		d.inputs = append(d.inputs, show(x))
	}
	d.report = func(input int, seed uint32) (func(Chooser) ([]byte, error), error) {
		return func(choose Chooser) ([]byte, error) { return m.EncodeChoosing(nil, vectors[input], seed, choose) }, nil
	}
	d.encode = func(input int, rng *rand.Rand) ([]byte, error) { return m.EncodeTernary(nil, vectors[input], rng) }
	return d
}

// gradientDomain has some gradients.
func gradientDomain(m Preparer, some []gradient) domain {
	d := domain{encodeName: "Encode", reportName: "the function of Prepare", sampled: "the result holds for the seeds and the gradients tried, a sample of those that occur"}
	for _, g := range some {
		d.inputs = append(d.inputs, g.name)
	}
	d.report = func(input int, seed uint32) (func(Chooser) ([]byte, error), error) {
		report, err := m.Prepare(some[input].values(), seed)
		return func(choose Chooser) ([]byte, error) { return report(nil, choose), nil }, err
	}
	d.encode = func(input int, rng *rand.Rand) ([]byte, error) { return m.Encode(nil, some[input].values(), rng) }
	return d
}

// withShort adds to each gradient but the zero one a gradient in the same direction, of half the L2 norm scale.
func withShort(list []gradient, scale float64) []gradient {
	for _, g := range list[zero+1:] {
		square := 0.0
		for _, v := range g.values() {
			square += (v / scale) * (v / scale)
		}
		short := 0.5 / math.Sqrt(square)
		list = append(list, gradient{g.name + " short", g.dim, func(j int) float64 { return short * g.at(j) }})
	}
	return list
}

// show prints a ternary vector as its signed indices. Those from dim on are dummies.
func show(x fl.Ternary) string {
	text := make([]string, len(x.Index))
	for i, j := range x.Index {
		text[i] = fmt.Sprintf("%+d", int64(j))
		if x.Sign[i] < 0 {
			text[i] = fmt.Sprintf("-%d", j)
		}
	}
	return fmt.Sprint(text)
}
