package hdsum

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// population simulates all clients of a protocol at once: it adds up their rounded
// inputs and draws the total noise of each instance once. What comes out has the
// same law as the sums of separately encoded messages, because the clients'
// negative binomial shares add up to the total's law by construction.
type population struct {
	layout  *layout
	clients int
	sums    []int64
	real    int64 // messages that carry an input, GKMPS only
}

func (l *layout) newPopulation(clients int) *population {
	return &population{layout: l, clients: clients, sums: make([]int64, l.instances)}
}

// addTo adds one client's input to an instance of group i, numbered within it.
func (p *population) addTo(i, instance int, x int64, rng *rand.Rand) error {
	if x == 0 {
		return nil
	}
	g := &p.layout.groups[i]
	rounded, err := g.protocol.round(x, rng)
	if err != nil {
		return fmt.Errorf("hdsum: simulate: %w", err)
	}
	p.sums[g.first+instance] += rounded
	if g.protocol.gkmps != nil && rounded != 0 {
		p.real++
	}
	return nil
}

// add is addTo for groups of one instance.
func (p *population) add(i int, x int64, rng *rand.Rand) error { return p.addTo(i, 0, x, rng) }

// finish adds the noise and returns the estimate of each instance and the number
// of all messages.
func (p *population) finish(rng *rand.Rand) (estimates []float64, messages int64, err error) {
	estimates = make([]float64, len(p.sums))
	messages = p.real
	for i := range p.layout.groups {
		g := &p.layout.groups[i]
		if want := g.protocol.clients(); p.clients != want {
			return nil, 0, fmt.Errorf("hdsum: simulate: %w", fl.Invalid("inputs", p.clients, "must be those of exactly %d clients", want))
		}
		noise, width := g.protocol.noise(), float64(g.protocol.width())
		for k := g.first; k < g.first+g.count; k++ {
			estimates[k] = width * float64(p.sums[k]+noise.Rand(rng))
		}
		messages += g.drawMessages(rng)
	}
	return estimates, messages, nil
}

// drawMessages draws the number of noise messages of all clients in all instances
// of the group: negative binomial variables of one shape parameter add up.
func (g *group) drawMessages(rng *rand.Rand) (messages int64) {
	if b := g.protocol.bbgn; b != nil {
		return int64(g.count) * int64(b.Clients()) * int64(b.Messages())
	}
	for _, flood := range g.protocol.gkmps.Floods() {
		total := flood.Total
		total.R *= float64(g.count)
		messages += total.Rand(rng) * int64(len(flood.Messages))
	}
	return messages
}
