package speed

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
)

// shares is the experiment that says what sums with Gaussian noise take, by the number of coordinates.
var shares = experiment.Experiment{
	Name:    "shares",
	Title:   "What sums with Gaussian noise take, by two servers and by each client's own noise, against the number of coordinates",
	Source:  "This module's gaussian-shares and gaussian-site",
	Without: []string{experiment.FlagData},
	Bind: func(f *flag.FlagSet) experiment.Run {
		s := sharesSetting{}
		f.IntSliceVar(&s.dims, "dim", []int{1_000, 10_000, 100_000, 1_000_000, 10_000_000}, "coordinates of a gradient")
		f.IntVar(&s.clients, "clients", 200, "clients of a round, for whom sums have room")
		f.Float64Var(&s.epsilon, "epsilon", 1, "ε of a round")
		f.Float64Var(&s.delta, "delta", 1e-6, "δ of a round")
		return s.run
	},
}

// sharesSetting is what the flags say.
type sharesSetting struct {
	dims           []int
	clients        int
	epsilon, delta float64
}

// sharesTimes are the shortest times of the steps of a round.
type sharesTimes struct {
	encode, prepare, check, addFirst, addSecond, release, combine time.Duration
}

// shorter returns the shorter time of each step.
func (t sharesTimes) shorter(o sharesTimes) sharesTimes {
	return sharesTimes{
		min(t.encode, o.encode), min(t.prepare, o.prepare), min(t.check, o.check), min(t.addFirst, o.addFirst),
		min(t.addSecond, o.addSecond), min(t.release, o.release), min(t.combine, o.combine),
	}
}

// sharesCases are what is measured. Proofs of more than most coordinates do not exist.
var sharesCases = []struct {
	mechanism, proof string
	most             int
}{
	{hdsum.SharesName, "", math.MaxInt},
	{hdsum.SharesName, hdsum.ProofPrio3, 1 << 16},
	{hdsum.SiteName, "", math.MaxInt},
}

func (s *sharesSetting) run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	repeats := env.RepeatsOr(3)
	dims := s.dims
	if env.Quick {
		dims = []int{100, 1000}
	}
	out := &experiment.Result{
		Columns: []string{"mechanism", "proof", "dim", "clients", "first_bytes", "second_bytes", "encode_ms", "prepare_ms", "check_ms", "add_first_ms", "add_second_ms", "release_ms", "combine_ms"},
		Notes: []string{
			fmt.Sprintf("Times are the fastest of %d repeats, on all cores where a step uses them. They leave out seals and connections.", repeats),
			"release is one server's noise for its sum. combine is the decoding of both sums, and with gaussian-site of the one sum.",
			"With a proof, prepare is the second server's part of the check of a report, and check is the first server's, who has both.",
		},
	}
	env.Progress.Describe("shares")
	env.Progress.Grow(len(sharesCases) * len(dims))
	for _, c := range sharesCases {
		for _, dim := range dims {
			if dim <= c.most {
				row, err := s.measure(ctx, c.mechanism, c.proof, dim, repeats, env.Seed)
				if err != nil {
					return nil, fmt.Errorf("%s, %d coordinates: %w", c.mechanism, dim, err)
				}
				out.Rows = append(out.Rows, row)
			}
			env.Progress.Step()
		}
	}
	return out, nil
}

// measure plays rounds of two clients.
func (s *sharesSetting) measure(ctx context.Context, mechanism, proof string, dim, repeats int, seed uint64) (experiment.Row, error) {
	round := fl.Round{
		ID: "shares", Mechanism: mechanism, Dim: dim, Scale: 1, Epsilon: s.epsilon, Delta: s.delta,
		Relation: fl.ReplaceOne, MinReports: 2, TargetReports: s.clients, PublicSeed: [32]byte{1},
	}
	if proof != "" {
		round.Params = fl.Params{hdsum.ParamProof: fl.Text(proof)}
	}
	_, m, err := fl.Complete(round)
	if err != nil {
		return nil, err
	}
	rng := experiment.Stream(seed, 96)
	grad := make([]float64, dim)
	for i := range grad {
		grad[i] = rng.NormFloat64()
	}
	sizes, best := [2]int{}, sharesTimes{}
	for i := range repeats {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var times sharesTimes
		if two, ok := m.(fl.SharedMechanism); ok {
			times, sizes, err = byTwoServers(two, grad, rng)
		} else {
			times, sizes, err = bySites(m, grad, rng)
		}
		if err != nil {
			return nil, err
		}
		if i == 0 {
			best = times
		}
		best = best.shorter(times)
	}
	ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
	return experiment.Row{
		mechanism, proof, dim, s.clients, sizes[0], sizes[1],
		ms(best.encode), ms(best.prepare), ms(best.check), ms(best.addFirst), ms(best.addSecond), ms(best.release), ms(best.combine),
	}, nil
}

// byTwoServers plays a round of two clients, and returns the times of one.
func byTwoServers(m fl.SharedMechanism, grad []float64, rng *rand.Rand) (t sharesTimes, sizes [2]int, err error) {
	var servers [2]fl.ShareAggregator
	for i, side := range []fl.ShareSide{fl.FirstServer, fl.SecondServer} {
		if servers[i], err = m.NewShareAggregator(side); err != nil {
			return t, sizes, err
		}
	}
	var shares [2][]byte
	for client := range uint64(2) {
		id := binary.LittleEndian.AppendUint64(nil, client)
		t.encode = timed(&err, func() error {
			shares[0], shares[1], err = m.EncodeShares(shares[0][:0], shares[1][:0], grad, rng)
			return err
		})
		if proved, ok := m.(fl.ProvedMechanism); ok {
			var key fl.VerifyKey
			var prepared []byte
			t.prepare = timed(&err, func() (err error) {
				prepared, err = proved.AppendPrepShare(nil, &key, shares[1])
				return err
			})
			t.check = timed(&err, func() error { return proved.CheckShare(&key, shares[0], prepared) })
		}
		for i, d := range []*time.Duration{&t.addFirst, &t.addSecond} {
			*d = timed(&err, func() error { return servers[i].Add(id, shares[i]) })
		}
	}
	var released [2][]byte
	for i := range servers {
		t.release = timed(&err, func() (err error) {
			released[i], err = servers[i].Release(rng)
			return err
		})
	}
	t.combine = timed(&err, func() error {
		_, err := m.Combine(released[0], released[1])
		return err
	})
	return t, [2]int{len(shares[0]), len(shares[1])}, err
}

// bySites plays a round of two clients, who add the noise themselves.
func bySites(m fl.Mechanism, grad []float64, rng *rand.Rand) (t sharesTimes, sizes [2]int, err error) {
	a := m.NewAggregator()
	var report []byte
	for range 2 {
		t.encode = timed(&err, func() error {
			report, err = m.Encode(report[:0], grad, rng)
			return err
		})
		t.addFirst = timed(&err, func() error { return a.Add(report) })
	}
	t.combine = timed(&err, func() error {
		_, err := a.Estimate()
		return err
	})
	return t, [2]int{len(report), 0}, err
}

// timed returns how long do takes. It does nothing after an error.
func timed(failed *error, do func() error) time.Duration {
	if *failed != nil {
		return 0
	}
	began := time.Now()
	*failed = do()
	return time.Since(began)
}
