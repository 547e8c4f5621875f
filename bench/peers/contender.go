package main

import (
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// contender is one way to turn many clients' ternary vectors into their sum. It
// plays all parties. Not safe for concurrent use.
type contender interface {
	// about describes the contender.
	about() about
	// join is what a client does once per round, before its first report: it
	// builds its tables from the public description of the round.
	join() error
	// encode is the client's half. x has the sparsity of the task and no dummies.
	encode(x fl.Ternary) (report, error)
	// add is the server's half: it checks, decodes and accumulates one report.
	// After an error the state is unchanged.
	add(r report) error
	// sum is what the server learns from the reports added so far, one number
	// per coordinate. It may be called again later.
	sum() ([]float64, error)
}

// report is what one client sends.
type report struct {
	// nonce names the report in Prio3 and is empty elsewhere. It travels in the
	// header of the surrounding protocol and is not counted.
	nonce []byte
	// parts holds one message per recipient, and the public share of Prio3.
	parts [][]byte
}

// bytes is the counted size.
func (r report) bytes() int {
	n := 0
	for _, p := range r.parts {
		n += len(p)
	}
	return n
}

// about is what the table says of a contender besides its costs.
type about struct {
	Name      string
	Sends     string // what of the vector goes into a report
	Sum       string // what the server learns of the sum
	Guarantee string // differential privacy of one report, or none
	// Between is the size of the messages the aggregators exchange per report, in bytes.
	Between int
}

// task is the work that all contenders do.
type task struct {
	Dim      int
	Sparsity int
	Epsilon  float64 // of the contenders that have one
}

// contenders returns all of them in the order of the table. src supplies the
// randomness of all parties.
func contenders(t task, src *rand.ChaCha8) ([]contender, error) {
	var all []contender
	for _, open := range []func(task, *rand.ChaCha8) (contender, error){
		newDefaultCoCo, newIdealCoCo, newSumVec, newHistogram, newDense,
	} {
		c, err := open(t, src)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// vectors draws n ternary vectors with uniformly random supports and signs.
func vectors(t task, n int, rng *rand.Rand) []fl.Ternary {
	all := make([]fl.Ternary, n)
	for i := range all {
		x := fl.Ternary{Dim: t.Dim}
		for _, j := range rng.Perm(t.Dim)[:t.Sparsity] {
			x.Index = append(x.Index, uint32(j))
			x.Sign = append(x.Sign, int8(1-2*rng.IntN(2)))
		}
		all[i] = x
	}
	return all
}
