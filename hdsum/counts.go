package hdsum

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/fl"
)

// Count says how many clients have an input.
type Count struct{ Value, Clients int64 }

// simulateCounts draws the estimate of every instance, and the number of messages of all clients.
func (l *layout) simulateCounts(counts []Count, to func(value int64) (input, error), rng *rand.Rand) (estimates []float64, messages int64, err error) {
	p := l.newPopulation(0)
	if err := p.addCounts(counts, to, rng); err != nil {
		return nil, 0, err
	}
	return p.finish(rng)
}

// addCounts adds the inputs of many clients. to returns the instance of a value. When an
// instance rounds, the number of clients that are rounded up is binomial; it comes from a
// floating-point sampler, which is enough for research.
func (p *population) addCounts(counts []Count, to func(value int64) (input, error), rng *rand.Rand) error {
	for i, c := range counts {
		room := int64(p.layout.clients() - p.clients)
		if c.Clients < 0 || c.Clients > room {
			return fmt.Errorf("hdsum: simulate: %w", fl.Invalid(fmt.Sprintf("counts[%d].Clients", i), c.Clients, "must be in [0, %d], what is left of %d clients", room, p.layout.clients()))
		}
		p.clients += int(c.Clients)
		if c.Clients == 0 || c.Value == 0 {
			continue
		}
		in, err := to(c.Value)
		if err != nil {
			return err
		}
		g := &p.layout.groups[in.group]
		if _, err := g.sum.Round(c.Value, rng); err != nil { // the range of inputs
			return fmt.Errorf("hdsum: simulate: %w", err)
		}
		width := g.sum.Width()
		down, up := c.Value/width, int64(0)
		if rest := c.Value % width; rest > 0 {
			up = int64(distuv.Binomial{N: float64(c.Clients), P: float64(rest) / float64(width), Src: rng}.Rand())
		}
		p.sums[g.first+in.instance] += down*c.Clients + up
		none := g.sum.payload(0)
		p.messages += (c.Clients-up)*(g.sum.payload(down)-none) + up*(g.sum.payload(down+1)-none)
	}
	return nil
}

// SimulateCounts draws what Analyze would return for clients that are counted by their input, and the number of
// messages they would send together, from the totals' own laws: O(len(counts) + U) instead of O(messages), whatever
// the number of clients. The counts must add up to Clients; inputs of 0 count, too. It is for research; it sees
// all inputs.
func (s *BaseSum) SimulateCounts(counts []Count, rng *rand.Rand) (sum float64, messages int64, err error) {
	estimates, messages, err := s.simulateCounts(counts, func(x int64) (input, error) { return input{value: x}, nil }, rng)
	if err != nil {
		return 0, 0, err
	}
	return estimates[0], messages, nil
}

// SimulateCounts is like [BaseSum.SimulateCounts].
func (s *SumDP) SimulateCounts(counts []Count, rng *rand.Rand) (e *SumEstimate, messages int64, err error) {
	parts, messages, err := s.simulateCounts(counts, func(x int64) (input, error) {
		inputs, err := s.inputs(nil, x)
		if err != nil {
			return input{}, err
		}
		return inputs[0], nil
	}, rng)
	if err != nil {
		return nil, 0, err
	}
	return s.estimate(parts), messages, nil
}
