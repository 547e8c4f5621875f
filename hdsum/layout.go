package hdsum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// group is a run of instances with one protocol, numbered from first.
type group struct {
	protocol *base
	first    int
	count    int
}

// layout is the list of all instances of a protocol, and the noise of one client
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

// source is one negative binomial variable per instance of a group.
type source struct {
	group    int
	messages []int64 // what one copy adds
	size     sample.LogarithmicSampler
}

// maxInstances bounds the number of instances, whose numbers travel as 32 bits.
const maxInstances = 1 << 31

// newLayout numbers the instances of the groups, whose first is ignored.
func newLayout(groups ...group) (*layout, error) {
	l := &layout{groups: groups}
	var weights []float64
	for i := range groups {
		g := &groups[i]
		g.first = l.instances
		if l.instances += g.count; l.instances > maxInstances {
			return nil, fl.Invalid("instances", l.instances, "must be at most %d", maxInstances)
		}
		l.cost = l.cost.plus(g.protocol.cost().times(float64(g.count)))
		if g.protocol.gkmps == nil {
			continue
		}
		for _, flood := range g.protocol.gkmps.Floods() {
			share := flood.Total.Share(g.protocol.gkmps.Clients())
			l.sources = append(l.sources, source{group: i, messages: flood.Messages, size: sample.NewLogarithmicSampler(share.Eta)})
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

// input is a client's non-zero input to an instance.
type input struct {
	instance int
	value    int64
}

// encode appends all messages of a client with the given inputs, which have
// distinct instances in increasing order; it is 0 in all other instances. Expected
// time O(entries · log entries).
func (l *layout) encode(dst []Message, inputs []input, rng *rand.Rand) (Multiset, error) {
	start := len(dst)
	dst = slices.Grow(dst, int(l.cost.Entries)+len(inputs))
	var shares []uint64
	for i := range l.groups {
		g := &l.groups[i]
		end := g.first + g.count
		own := 0
		for own < len(inputs) && inputs[own].instance < end {
			own++
		}
		mine := inputs[:own]
		inputs = inputs[own:]
		var err error
		if g.protocol.bbgn != nil {
			dst, shares, err = g.encodeShares(dst, shares, mine, rng)
		} else {
			dst, err = g.encodeValues(dst, mine, rng)
		}
		if err != nil {
			return nil, err
		}
	}
	dst = l.noise(dst, rng)
	return canonical(dst[start:]), nil
}

// encodeShares splits the input to every instance of a BBGN group.
func (g *group) encodeShares(dst []Message, shares []uint64, inputs []input, rng *rand.Rand) ([]Message, []uint64, error) {
	for instance := g.first; instance < g.first+g.count; instance++ {
		var x int64
		if len(inputs) > 0 && inputs[0].instance == instance {
			x, inputs = inputs[0].value, inputs[1:]
		}
		var err error
		if shares, err = g.protocol.bbgn.Encode(shares[:0], x, rng); err != nil {
			return dst, shares, fmt.Errorf("hdsum: instance %d: %w", instance, err)
		}
		slices.Sort(shares) // cheaper here than among all messages
		for _, s := range shares {
			dst = append(dst, Message{Instance: uint32(instance), Value: int64(s), Count: 1})
		}
	}
	return dst, shares, nil
}

// encodeValues appends the real messages of a GKMPS group.
func (g *group) encodeValues(dst []Message, inputs []input, rng *rand.Rand) ([]Message, error) {
	for _, in := range inputs {
		x, err := g.protocol.round(in.value, rng)
		if err != nil {
			return dst, fmt.Errorf("hdsum: instance %d: %w", in.instance, err)
		}
		if x != 0 {
			dst = append(dst, Message{Instance: uint32(in.instance), Value: x, Count: 1})
		}
	}
	return dst, nil
}

// noise appends the client's noise messages of all GKMPS instances.
func (l *layout) noise(dst []Message, rng *rand.Rand) []Message {
	if l.which == nil {
		return dst
	}
	for range sample.Poisson(rng, l.clusters) {
		s := &l.sources[l.which.Rand(rng)]
		g := &l.groups[s.group]
		instance := uint32(g.first + rng.IntN(g.count))
		size := s.size.Rand(rng)
		for _, value := range s.messages {
			dst = append(dst, Message{Instance: instance, Value: value, Count: size})
		}
	}
	return dst
}

// Cost is what a client sends in expectation, for an input of zeros.
func (l *layout) Cost() Cost { return l.cost }

// clients is the number of clients over which the noise is spread.
func (l *layout) clients() int { return l.groups[0].protocol.clients() }

// entryLimit bounds from above what honest clients send: the expected number of
// entries for the input 0, one entry of their own per instance, and room for
// chance far beyond what a Poisson variable takes.
func (l *layout) entryLimit() int {
	return int(math.Ceil(4*l.cost.Entries)) + l.instances + 1024
}
