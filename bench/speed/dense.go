package speed

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/privunitg"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privunit"
)

// dense is the experiment that sets reports of privunit beside reports of the best known dense mechanism.
var dense = experiment.Experiment{
	Name:    "dense",
	Title:   "What a report of a dense gradient costs and what it is worth, beside real-number PrivUnitG",
	Source:  "PrivUnitG is Asi, Feldman and Talwar's. The aims are this module's",
	Without: []string{experiment.FlagData},
	Bind: func(f *flag.FlagSet) experiment.Run {
		s := denseSetting{}
		f.IntVar(&s.dim, "dim", 650, "coordinates of a gradient")
		return s.run
	},
}

// denseSetting is what the flags say.
type denseSetting struct{ dim int }

// decoded is how many reports a server adds for one time.
const decoded = 1 << 12

func (s *denseSetting) run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	repeats := env.RepeatsOr(200)
	if env.Quick {
		repeats = env.RepeatsOr(3)
	}
	out := &experiment.Result{
		Columns: []string{"mechanism", "candidates", "dim", "epsilon", "bytes", "error", "ratio", "encode_microseconds", "decode_nanoseconds"},
		Notes: []string{
			"error is the exact mean squared error of one report over all coordinates, in squares of the clipped norm. ratio is over the error of privunitg, which no computer keeps private.",
			fmt.Sprintf("Times are the fastest of %d repeats on one core. decode_nanoseconds is for a report and a coordinate after the rotation, of %d reports at once.", repeats, decoded),
		},
	}
	points := []privunit.Point{}
	for _, epsilon := range []float64{1, 2, 4, 8} {
		points = append(points, privunit.Point{Dim: s.dim, Epsilon: epsilon, Candidates: privunit.DefaultCandidates})
	}
	points = append(points, privunit.Point{Dim: s.dim, Epsilon: 8, Candidates: 4 * privunit.DefaultCandidates})
	env.Progress.Describe("dense")
	env.Progress.Grow(len(points))
	for _, p := range points {
		row, err := s.measure(ctx, p, repeats, env.Seed)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, row)
		if p.Candidates == privunit.DefaultCandidates {
			out.Verdicts = append(out.Verdicts, denseVerdicts(p, row)...)
		}
		env.Progress.Step()
	}
	return out, nil
}

// denseVerdicts compares a row with the aims.
func denseVerdicts(p privunit.Point, row experiment.Row) (out []experiment.Verdict) {
	most := 1.04
	if p.Epsilon > 4 {
		most = 1.12
	}
	for _, aim := range []struct {
		what   string
		column int
		most   float64
	}{{"the error over PrivUnitG's", 6, most}, {"µs to encode a gradient", 7, 150}, {"ns to add a report, per coordinate", 8, 0.3}} {
		got := row[aim.column].(float64)
		out = append(out, experiment.Verdict{
			Claim: fmt.Sprintf("privunit, ε = %g, %d candidates: %s is at most %g", p.Epsilon, p.Candidates, aim.what, aim.most),
			Holds: got <= aim.most, Ours: fmt.Sprintf("%.3g", got),
		})
	}
	return out
}

func (s *denseSetting) measure(ctx context.Context, p privunit.Point, repeats int, seed uint64) (experiment.Row, error) {
	p, err := p.Complete()
	if err != nil {
		return nil, err
	}
	_, m, err := fl.Complete(fl.Round{
		ID: "dense", Mechanism: privunit.Name, Dim: p.Dim, Scale: 1, Epsilon: p.Epsilon, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1}, Params: p.Params(),
	})
	if err != nil {
		return nil, err
	}
	mse, err := p.MSE()
	if err != nil {
		return nil, err
	}
	best, err := privunitg.Error(p.Epsilon, p.Dim)
	if err != nil {
		return nil, err
	}
	rng := experiment.Stream(seed, 96)
	grad := make([]float64, p.Dim)
	for i := range grad {
		grad[i] = rng.NormFloat64()
	}
	var report []byte
	encoding, err := take(ctx, 3, repeats, func() (err error) { report, err = m.Encode(report[:0], grad, rng); return err })
	if err != nil {
		return nil, err
	}
	agg := m.NewAggregator()
	decoding, err := take(ctx, decoded, (repeats+9)/10, func() error { // every report has a seed of its own
		binary.LittleEndian.PutUint32(report, rng.Uint32())
		return agg.Add(report)
	})
	if err != nil {
		return nil, err
	}
	return experiment.Row{
		privunit.Name, p.Candidates, p.Dim, p.Epsilon, len(report), mse, mse / best,
		slices.Min(encoding) / 1e3, slices.Min(decoding) / float64(p.PaddedDim()),
	}, nil
}
