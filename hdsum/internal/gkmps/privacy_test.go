package gkmps

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
)

var long = flag.Bool("long", false, "enumerate larger domains, and solve for the smallest η")

// The grid of privacy losses. Losses are rounded up to it, so that every δ computed
// here is an upper bound; at most seven parts add up, an error of 2e-3 in ε.
const lossStep = 2.5e-4

// A lossLaw is the law of a privacy loss ln P(Y)/Q(Y), Y ~ P: mass[i] at
// (first+i)·lossStep and the rest at +∞.
type lossLaw struct {
	first    int
	mass     []float64
	infinite float64
}

// add puts mass at a loss, rounded up to the grid.
func (l *lossLaw) add(loss, mass float64) {
	i := int(math.Ceil(loss/lossStep)) - l.first
	if i >= len(l.mass) {
		l.mass = append(l.mass, make([]float64, i+1-len(l.mass))...)
	}
	l.mass[max(i, 0)] += mass // raising a loss is pessimistic
}

// trimmed drops up to 1e-18 of mass at each end, pessimistically.
func (l lossLaw) trimmed() lossLaw {
	low, high := 0, len(l.mass)
	for sum := 0.0; low+1 < high && sum+l.mass[low] < 1e-18; low++ {
		sum += l.mass[low]
		l.mass[low+1] += l.mass[low]
	}
	for sum := 0.0; high-1 > low && sum+l.mass[high-1] < 1e-18; high-- {
		sum += l.mass[high-1]
		l.infinite += l.mass[high-1]
	}
	return lossLaw{first: l.first + low, mass: l.mass[low:high], infinite: l.infinite}
}

// then returns the law of the sum of two independent losses.
func (l lossLaw) then(m lossLaw) lossLaw {
	sum := lossLaw{
		first:    l.first + m.first,
		mass:     make([]float64, len(l.mass)+len(m.mass)-1),
		infinite: l.infinite + m.infinite,
	}
	for i, a := range l.mass {
		if a == 0 {
			continue // most of the grid, for the law of a pair
		}
		for j, b := range m.mass {
			sum.mass[i+j] += a * b
		}
	}
	return sum
}

// delta returns the hockey-stick divergence of order e^ε.
func (l lossLaw) delta(eps float64) float64 {
	sum := l.infinite
	for i, mass := range l.mass {
		if loss := float64(l.first+i) * lossStep; loss > eps {
			sum -= mass * math.Expm1(eps-loss)
		}
	}
	return sum
}

// A countLaw is the law of a number of copies: probabilities and their logarithms,
// and a bound on what lies beyond.
type countLaw struct {
	prob, log []float64
	tail      float64
}

// countsOf lists a negative binomial law up to a tail below 1e-15. The
// probabilities follow from their ratios: P(k)/P(k−1) = p(k−1+r)/k.
func countsOf(d sample.NegativeBinomial) (c countLaw) {
	log := d.R * math.Log(-math.Expm1(-d.Eta))
	mean := d.Mean()
	if !(mean < 1e8) {
		panic(fmt.Sprintf("%+v is too wide to list", d))
	}
	for k := 0; ; k++ {
		x := float64(k)
		if k > 0 {
			log += math.Log1p((d.R-1)/x) - d.Eta
		}
		p := math.Exp(log)
		c.prob, c.log = append(c.prob, p), append(c.log, log)
		// Beyond the mean the ratio is below this one and falls.
		if c.tail = p / (1 - (x+d.R)/(x+1)*math.Exp(-d.Eta)); x > mean && c.tail > 0 && c.tail < 1e-15 {
			return c
		}
	}
}

// plusGeometric returns the law of the sum with a geometric variable of ratio q.
func (c countLaw) plusGeometric(q float64) countLaw {
	sum := countLaw{prob: make([]float64, len(c.prob)), log: make([]float64, len(c.prob))}
	last := 0.0
	for i, p := range c.prob {
		last = q*last + (1-q)*p
		sum.prob[i], sum.log[i] = last, math.Log(last)
	}
	sum.tail = c.tail + last*q/(1-q)
	return sum
}

// shiftLoss returns the loss between Y+a and Y+b, a−b the shift, for Y of law c.
func (c countLaw) shiftLoss(shift int64) lossLaw {
	const widest = 2
	steps := int(widest / lossStep)
	l := lossLaw{first: -steps, mass: make([]float64, 2*steps), infinite: c.tail}
	for k, p := range c.prob {
		at := int64(k) + shift // the same value as seen by the other law
		if at < 0 || at >= int64(len(c.prob)) || c.log[k]-c.log[at] > widest {
			l.infinite += p
		} else {
			l.add(c.log[k]-c.log[at], p)
		}
	}
	return l.trimmed()
}

// A view computes the losses between inputs from the laws of a Protocol.
type view struct {
	noise  sample.DiscreteLaplace
	second countLaw           // min(z+, z−) + w, w ~ D-hat
	atoms  map[int64]countLaw // D-tilde
	known  map[[2]int64]lossLaw
}

func newView(p *Protocol) *view {
	v := &view{noise: p.Noise(), atoms: map[int64]countLaw{}, known: map[[2]int64]lossLaw{}}
	v.second = countsOf(p.Floods()[2].Total).plusGeometric(math.Exp(-2 * v.noise.Eta))
	for _, f := range p.Floods()[3:] {
		v.atoms[f.Messages[0]] = countsOf(f.Total)
	}
	return v
}

// pair returns the loss of the sum of all messages together with the number of
// messages −1 less D-tilde's messages −1 (Lemma 9): (x+d, max(0,−d)+g+w), d discrete
// Laplace.
func (v *view) pair(x, y int64) lossLaw {
	steps := int(3 / lossStep)
	total := lossLaw{first: -steps, mass: make([]float64, 2*steps)}
	negative := func(d int64) int64 { return max(0, -d) }
	shifts := map[int64]lossLaw{}
	reach := int64(42 / v.noise.Eta) // beyond: less than 1e-18
	for d := -reach; d <= reach; d++ {
		e := x + d - y // what the noise would be if the input were y
		shift := negative(d) - negative(e)
		l, ok := shifts[shift]
		if !ok {
			l = v.second.shiftLoss(shift)
			shifts[shift] = l
		}
		weight := v.noise.Prob(d)
		base := math.Log(v.noise.Prob(d)) - math.Log(v.noise.Prob(e))
		for i, m := range l.mass {
			total.add(base+float64(l.first+i)*lossStep, weight*m)
		}
		total.infinite += weight * l.infinite
	}
	total.infinite += 1e-18
	return total.trimmed()
}

// between returns the loss of the whole view between inputs x and y.
func (v *view) between(x, y int64) lossLaw {
	l := lossLaw{mass: []float64{1}}
	difference := map[int64]int64{}
	for sign, input := range map[int64]int64{1: x, -1: y} {
		if input == 0 {
			continue
		}
		for _, e := range column(nil, input) {
			difference[e.atom] += sign * e.count
		}
	}
	for atom, shift := range difference {
		if shift == 0 {
			continue
		}
		counts, ok := v.atoms[atom]
		if !ok {
			return lossLaw{infinite: 1} // nothing hides the difference
		}
		key := [2]int64{atom, shift}
		part, ok := v.known[key]
		if !ok {
			part = counts.shiftLoss(shift)
			v.known[key] = part
		}
		l = l.then(part).trimmed()
	}
	return v.pair(x, y).then(l)
}

// The protocol is (ε, δ)-private for all pairs of neighbouring inputs: the exact
// privacy losses of the independent parts of its view, convolved.
func TestPrivacyLosses(t *testing.T) {
	largest := int64(4)
	if !*long {
		largest = 2
	}
	for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
		for _, calibration := range []Calibration{Certified, Tight} {
			for _, delta := range []float64{1e-2, 1e-6} {
				for bound := int64(1); bound <= largest; bound++ {
					p, err := New(Config{Clients: 1, Bound: bound, Epsilon: 1, Delta: delta, Relation: relation, Calibration: calibration})
					if err != nil {
						t.Fatal(err)
					}
					v := newView(p)
					worst := 0.0
					for x := int64(0); x <= bound; x++ {
						for y := int64(0); y <= bound; y++ {
							if x == y || relation == fl.ZeroOut && x != 0 && y != 0 {
								continue
							}
							worst = max(worst, v.between(x, y).delta(1))
						}
					}
					if name := fmt.Sprintf("%s, %s, U = %d", calibration, relation, bound); !(worst <= delta) {
						t.Errorf("%s: δ(1) = %.3g > %g", name, worst, delta)
					} else {
						t.Logf("%s: δ(1) = %.3g <= %g", name, worst, delta)
					}
				}
			}
		}
	}
}

// The check above can fail: without D-hat, or without any one atom of D-tilde, some
// pair of inputs is told apart.
func TestPrivacyNeedsEveryFlood(t *testing.T) {
	const bound, delta = 3, 1e-2
	p, err := New(Config{Clients: 1, Bound: bound, Epsilon: 1, Delta: delta, Relation: fl.ReplaceOne, Calibration: Tight})
	if err != nil {
		t.Fatal(err)
	}
	full := p.floods
	for missing := 2; missing < len(full); missing++ {
		p.floods = slices.Clone(full)
		p.floods[missing].Total.Eta = 40 // practically always 0 copies
		v := newView(p)
		worst := 0.0
		for x := int64(0); x <= bound && worst <= delta; x++ { // one pair is enough
			for y := int64(0); y <= bound && worst <= delta; y++ {
				if x != y {
					worst = max(worst, v.between(x, y).delta(1))
				}
			}
		}
		if worst <= delta {
			t.Errorf("without flood %d, %v: δ(1) = %.3g <= %g", missing, full[missing].Messages, worst, delta)
		}
	}
}
