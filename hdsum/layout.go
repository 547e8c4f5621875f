package hdsum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// group is a run of instances of one sum.
type group struct {
	run
	sum noisySum
}

// layout is the list of all instances of a sum, and the noise of one client
// in all GKMPS instances together.
//
// A negative binomial variable is a Poisson number of clusters of logarithmic
// size, and independent Poisson numbers add up. So the noise of a client is drawn
// as one Poisson number of clusters over everything; each cluster then falls on a
// source by an alias table and on one of its instances uniformly. That is the same
// law as one negative binomial variable per source and instance, at a cost
// proportional to what is sent instead of to the number of instances.
type layout struct {
	groups    []group
	instances int
	sources   []source
	which     *sample.Alias // of sources; nil without any
	clusters  float64       // expected number per client
	cost      Cost
}

// source is one negative binomial variable per instance of a run.
type source struct {
	run
	messages []int64 // what one copy adds
	size     sample.LogarithmicSampler
}

// maxInstances bounds the number of instances, whose numbers travel as 32 bits.
const maxInstances = 1 << 31

// newLayout numbers the instances of the groups. Their counts are given.
func newLayout(groups ...group) (*layout, error) {
	l := &layout{groups: groups}
	var weights []float64
	for i := range groups {
		g := &groups[i]
		g.first = l.instances
		if l.instances += g.count; l.instances > maxInstances {
			return nil, fl.Invalid("instances", l.instances, "must be at most %d", maxInstances)
		}
		l.cost = l.cost.plus(g.sum.cost().times(float64(g.count)))
		for _, flood := range g.sum.Floods() {
			share := flood.Total.Share(g.sum.Clients())
			l.sources = append(l.sources, source{run: g.run, messages: flood.Messages, size: sample.NewLogarithmicSampler(share.Eta)})
			weight := share.Clusters() * float64(g.count)
			weights = append(weights, weight)
			l.clusters += weight
		}
	}
	if len(weights) == 0 {
		return l, nil
	}
	var err error
	l.which, err = sample.NewAlias(weights)
	return l, err
}

// Cost is what a client sends in expectation, for an input of zeros.
func (l *layout) Cost() Cost { return l.cost }

// clients is the number of clients over which the noise is spread.
func (l *layout) clients() int { return l.groups[0].sum.Clients() }

// entryLimit bounds from above what honest clients send: the expected number of
// entries for the input 0, one entry of their own per instance, and room for
// chance far beyond what a Poisson variable takes.
func (l *layout) entryLimit() int {
	return int(math.Ceil(4*l.cost.Entries)) + l.instances + 1024
}

// encode returns all messages of a client with the given inputs, in the order of
// their instances; it has 0 in all others. A nil rng means a fresh fl.NewRand. Expected
// time O(entries · log entries).
func (l *layout) encode(inputs []input, rng *rand.Rand) (Multiset, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	messages := slices.Grow([]Message(nil), int(l.cost.Entries)+len(inputs))
	for i, g := range l.groups {
		own := 0
		for own < len(inputs) && inputs[own].group == i {
			own++
		}
		var err error
		if messages, err = g.sum.encode(messages, g.run, inputs[:own], rng); err != nil {
			return nil, err
		}
		inputs = inputs[own:]
	}
	return canonical(l.noise(messages, rng)), nil
}

// noise appends the client's noise messages of all GKMPS instances.
func (l *layout) noise(dst []Message, rng *rand.Rand) []Message {
	if l.which == nil {
		return dst
	}
	for range sample.Poisson(rng, l.clusters) {
		s := &l.sources[l.which.Rand(rng)]
		instance := uint32(s.first + rng.IntN(s.count))
		size := s.size.Rand(rng)
		for _, value := range s.messages {
			dst = append(dst, Message{Instance: instance, Value: value, Count: size})
		}
	}
	return dst
}

// population simulates all clients of a sum at once: it adds up their rounded
// inputs and draws the total noise of each instance once. What comes out has the
// same law as the sums of separately encoded messages, because the clients'
// negative binomial shares add up to the total's law by construction.
type population struct {
	layout   *layout
	clients  int
	sums     []int64
	messages int64 // of the inputs, beyond the messages of inputs 0
}

func (l *layout) newPopulation(clients int) *population {
	return &population{layout: l, clients: clients, sums: make([]int64, l.instances)}
}

// add adds one client's inputs.
func (p *population) add(inputs []input, rng *rand.Rand) error {
	for _, in := range inputs {
		g := &p.layout.groups[in.group]
		rounded, err := g.sum.Round(in.value, rng)
		if err != nil {
			return fmt.Errorf("hdsum: simulate: %w", err)
		}
		p.sums[g.first+in.instance] += rounded
		p.messages += g.sum.payload(rounded) - g.sum.payload(0)
	}
	return nil
}

// finish adds the noise and returns the estimate of each instance and the number
// of all messages.
func (p *population) finish(rng *rand.Rand) (estimates []float64, messages int64, err error) {
	estimates = make([]float64, len(p.sums))
	messages = p.messages
	for _, g := range p.layout.groups {
		if want := g.sum.Clients(); p.clients != want {
			return nil, 0, fmt.Errorf("hdsum: simulate: %w", fl.Invalid("inputs", p.clients, "must come from exactly %d clients", want))
		}
		noise, width := g.sum.Noise(), float64(g.sum.Width())
		for k := g.first; k < g.end(); k++ {
			estimates[k] = width * float64(p.sums[k]+noise.Rand(rng))
		}
		messages += g.drawMessages(rng)
	}
	return estimates, messages, nil
}

// drawMessages draws the number of messages of all clients in all instances of the
// group when all inputs are 0: negative binomial variables of one shape parameter add
// up.
func (g group) drawMessages(rng *rand.Rand) int64 {
	messages := int64(g.count) * int64(g.sum.Clients()) * g.sum.payload(0)
	for _, flood := range g.sum.Floods() {
		total := flood.Total
		total.R *= float64(g.count)
		messages += total.Rand(rng) * int64(len(flood.Messages))
	}
	return messages
}
