package server_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/client"
)

// toy is a mechanism written outside the module: Warner's randomized response
// on one randomly chosen coordinate, which is first rounded at random to plus or minus Scale.
// Its report is the coordinate and the answer, 5 bytes.
type toy struct {
	round  fl.Round
	digest [32]byte
}

func init() { fl.Register("toy-warner", toyFactory{}) }

type toyFactory struct{}

func (toyFactory) Open(r fl.Round) (fl.Mechanism, error) {
	digest, err := r.Digest()
	return toy{r, digest}, errors.Join(err, r.CheckLocal(), r.Params.Only())
}

// keep is the probability of the true answer. A product would use integers.
func (m toy) keep() float64 { return 1 / (1 + math.Exp(-m.round.Epsilon)) }

func (m toy) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if len(grad) != m.round.Dim {
		return dst, fl.Invalid("gradient", len(grad), "must have dim = %d coordinates", m.round.Dim)
	}
	for j, g := range grad {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return dst, fl.Invalid("gradient", g, "must be finite, coordinate %d is not", j)
		}
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	j := rng.Uint32N(uint32(m.round.Dim))
	answer, share := byte(0), min(max(grad[j]/m.round.Scale, -1), 1)
	if plus := rng.Float64() < (1+share)/2; plus == (rng.Float64() < m.keep()) {
		answer = 1
	}
	return append(binary.LittleEndian.AppendUint32(dst, j), answer), nil
}

func (m toy) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

func (m toy) NewAggregator() fl.Aggregator {
	return &toyAggregator{toy: m, counts: make([]int64, 1+m.round.Dim)}
}

type toyAggregator struct {
	toy
	counts []int64 // reports, then for every coordinate yes minus no
}

func (a *toyAggregator) Add(report []byte) error {
	if len(report) != 5 || report[4] > 1 || int64(binary.LittleEndian.Uint32(report)) >= int64(a.round.Dim) {
		return fmt.Errorf("toy: %w: must be a coordinate and 0 or 1", fl.ErrBadReport)
	}
	a.counts[0]++
	a.counts[1+binary.LittleEndian.Uint32(report)] += 2*int64(report[4]) - 1
	return nil
}

func (a *toyAggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*toyAggregator)
	if !ok || o.digest != a.digest {
		return errors.New("toy: merge: the aggregators belong to different rounds")
	}
	for i, c := range o.counts {
		a.counts[i] += c
	}
	return nil
}

func (a *toyAggregator) Estimate() (*fl.Estimate, error) {
	if err := a.round.CheckReports(a.counts[0]); err != nil {
		return nil, fmt.Errorf("toy: estimate: %w", err)
	}
	n, d := float64(a.counts[0]), float64(a.round.Dim)
	gain := a.round.Scale * d / (2*a.keep() - 1)
	var mean fl.Series
	for _, c := range a.counts[1:] {
		mean.Value = append(mean.Value, gain*float64(c)/n)
		mean.StdErr = append(mean.StdErr, gain/math.Sqrt(n*d))
	}
	return fl.NewEstimate(a.round, a.Guarantee(), a.counts[0], mean), nil
}

func (a *toyAggregator) MarshalBinary() ([]byte, error) {
	return binary.Append(a.digest[:], binary.LittleEndian, a.counts)
}

func (a *toyAggregator) UnmarshalBinary(data []byte) error {
	data, ok := bytes.CutPrefix(data, a.digest[:])
	counts := make([]int64, len(a.counts))
	if n, err := binary.Decode(data, binary.LittleEndian, counts); !ok || err != nil || n != len(data) || counts[0] < 0 {
		return errors.New("toy: snapshot: damaged, or of another round")
	}
	a.counts = counts
	return nil
}

// A mechanism that registers itself runs in the stock server and the stock
// client; neither knows it.
func Example_pluggingInAMechanism() {
	conn, stop := serve() // as in the package's example
	defer stop()
	ctx, operator := context.Background(), client.NewOperator(conn)
	if _, err := operator.OpenRound(ctx, fl.Round{
		ID: "plugged-in", Mechanism: "toy-warner", Dim: 2, Scale: 1, Epsilon: 3, MinReports: 1000,
	}); err != nil {
		log.Fatal(err)
	}

	c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: 3, MinReports: 1000}})
	if err != nil {
		log.Fatal(err)
	}
	round, err := c.Join(ctx, "plugged-in")
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{1})) // seeded only because this is an example
	reports := make([][]byte, 20_000)
	for i := range reports {
		if reports[i], err = round.Encode(nil, []float64{0.7, -0.2}, rng); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := round.Submit(ctx, reports); err != nil {
		log.Fatal(err)
	}
	if err := operator.CloseRound(ctx, "plugged-in"); err != nil {
		log.Fatal(err)
	}
	estimate, err := operator.Estimate(ctx, "plugged-in", false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d reports under %v\n", estimate.Reports, estimate.Guarantee)
	fmt.Printf("mean %+.1f %+.1f\n", estimate.Mean().Value[0], estimate.Mean().Value[1])
	// Output:
	// 20000 reports under (ε=3, δ=0)-DP, local model, replace-one
	// mean +0.7 -0.2
}
