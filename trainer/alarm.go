package trainer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// Likeness is what a PublicAlarm assumes about honest clients. It is an assumption: nothing proves it.
//
// At each coordinate, and for each of its signs, reports of the honest clients count for the sign on average at most as often as reports of the 1/Ratio of
// the public examples that have most of it, and at least as often as reports of the 1/Ratio that have least. A share Others of the
// honest clients may hold anything. So no kind of example may be more than Ratio times as frequent among honest clients as among the public examples.
type Likeness struct {
	// Ratio is in [1, 100]. 0 is 4.
	Ratio float64
	// Others is the share of honest clients that may hold anything, in (0, 1). 0 is 0.01.
	Others float64
}

// alarmRate bounds the probability that a PublicAlarm names any coordinate in a whole run, if all clients are honest and its Likeness holds.
const alarmRate = 1e-6

// PublicAlarm finds the coordinates at which more reports agree than public examples lead to: some clients lie there, or the clients' examples are of
// another kind. Use it where liars are too few for fl.Estimate.Suspects, which assumes nothing. Start with [NewPublicAlarm], and set
// RunConfig.Suspects to Suspects.
//
// If all clients are honest and the Likeness holds, the alarm names any coordinate in at most one of 10^6 runs, however many rounds a run has.
//
// The alarm reads public examples, models and estimates alone, so that it costs no privacy. It takes the public gradients at the model of the
// round, after the mechanism's clip. Evidence adds up over rounds. Liars who spread their reports over many coordinates pass. It is for one
// goroutine.
type PublicAlarm struct {
	public    Gradients
	mechanism fl.HitMechanism
	like      Likeness
	rate      float64                 // alarmRate
	clients   int                     // public ones that are looked at
	top       float64                 // the largest probability of a hit, at any coordinate
	rounds    int                     // so far
	wealth    [2][][len(odds)]float64 // logarithms, for + and −, by coordinate
}

// NewPublicAlarm returns an alarm for a run whose rounds differ from round in ID and PublicSeed alone. public are the gradients of public clients, at least
// 100, who hold as many public examples each as a client of the run: see Clients.On. The alarm closes it.
//
// The error names the parameter that is out of range, and mechanism unless the round's is an [fl.HitMechanism], such as coco and collision.
func NewPublicAlarm(public Gradients, round fl.Round, like Likeness) (*PublicAlarm, error) {
	const least = 100
	like.Ratio, like.Others = cmp.Or(like.Ratio, 4), cmp.Or(like.Others, 0.01)
	round.ID, round.PublicSeed = cmp.Or(round.ID, "public"), cmp.Or(round.PublicSeed, [32]byte{1}) // nothing here depends on them
	_, opened, err := fl.Complete(round)
	if err != nil {
		return nil, err
	}
	m, ok := opened.(fl.HitMechanism)
	switch {
	case !ok:
		return nil, invalid("mechanism", round.Mechanism, "must be one whose reports can be foreseen, such as coco")
	case public == nil:
		return nil, invalid("public", nil, "must be given")
	case public.Dim() != round.Dim:
		return nil, invalid("public", public.Dim(), "must have the round's %d coordinates", round.Dim)
	case public.Len() < least:
		return nil, invalid("public", public.Len(), "must be at least %d clients", least)
	case !(like.Ratio >= 1 && like.Ratio <= 100):
		return nil, invalid("ratio", like.Ratio, "must be in [1, 100], or 0")
	case !(like.Others > 0 && like.Others < 1):
		return nil, invalid("others", like.Others, "must be in [0, 1)")
	}
	a := &PublicAlarm{public: public, mechanism: m, like: like, rate: alarmRate, clients: min(public.Len(), max(least, alarmValues/round.Dim))}
	// No client hits a coordinate more often than one whose gradient has nothing else.
	grad, plus, minus := make([]float64, round.Dim), make([]float64, round.Dim), make([]float64, round.Dim)
	grad[0] = round.Scale
	if err := m.AddHits(plus, minus, grad); err != nil {
		return nil, fmt.Errorf("trainer: %w", err)
	}
	a.top = plus[0]
	for i := range a.wealth {
		a.wealth[i] = make([][len(odds)]float64, round.Dim)
		for j := range a.wealth[i] {
			for k := range odds {
				a.wealth[i][j][k] = math.Inf(-1)
			}
		}
	}
	return a, nil
}

// alarmValues is about how many values of public gradients are looked at.
const alarmValues = 1 << 21

// odds are how many times as many hits as honest clients send at most the alarm bets on.
var odds = [...]float64{1.25, 1.5, 2, 3, 6, 12}

// Suspects returns the coordinates, in ascending order, at which some clients lie by the estimates so far. Call it once in each round, with the model at
// which the clients computed their gradients. A coordinate is named until honest rounds have used up the evidence. O(Dim) for each public client, who are
// sorted at each coordinate. The memory is 16 bytes for each of 2^21 numbers, or of 100·Dim if that is more.
//
// # Derivation
//
// At one coordinate let a report of an honest client count for Sway with probability p and for −Sway with probability q, and let X be the sum of n
// reports in units of Sway. Reports are independent, given the clients' gradients. For every b > 1
//
//	E[b^X] = Π (1 + p_i·(b−1) − q_i·(1−1/b)) ≤ (1 + P·(b−1) − Q·(1−1/b))^n,
//
// where P is at least the mean of the p_i, and Q at most the mean of the q_i: the logarithm is concave. So b^X over the right side has an expectation of
// at most 1, whatever happened in the rounds before. The product over rounds is the wealth of a gambler whose game is not favourable. Wealth ever
// grows from 1 to 1/α with a probability of at most α (Ville 1939; Shafer, Testing by betting, 2021). A mixture of gamblers is one, too. Ours bets an
// equal share on each b of odds, and puts the share 1/(t(t+1)) of it at stake in round t, so that liars who come later are found. There are Dim
// coordinates with two signs, so that α is the alarm's rate over 2·Dim.
//
// By the Likeness P is Others·top + (1−Others)·mean of the largest 1/Ratio of the public p, where top is the largest p of any gradient, and Q
// is (1−Others)·mean of the smallest 1/Ratio of the public q.
func (a *PublicAlarm) Suspects(ctx context.Context, params []float64, e *fl.Estimate) ([]int, error) {
	if mean := e.Mean().Value; len(mean) != a.public.Dim() {
		return nil, invalid("estimate", len(mean), "must have %d coordinates", a.public.Dim())
	}
	limits, err := a.limits(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("public gradients: %w", err)
	}
	return a.bet(limits, e), nil
}

// bet plays a round, and returns the coordinates at which a gambler has won too much.
func (a *PublicAlarm) bet(limits [2]limit, e *fl.Estimate) (out []int) {
	a.rounds++
	t, mean := float64(a.rounds), e.Mean().Value
	stake := -math.Log(t * (t + 1) * float64(len(odds)))
	most := math.Log(2 * float64(len(mean)) / a.rate)
	n := float64(e.Reports)
	for j, v := range mean {
		found := false
		x := math.Round(v * n / a.mechanism.Sway()) // an integer, but for rounding
		for sign, w := range a.wealth {
			p, q, all := limits[sign].often[j], limits[sign].rarely[j], math.Inf(-1)
			for k, b := range odds {
				w[j][k] = logSum(w[j][k], stake) + x*math.Log(b) - n*math.Log1p(p*(b-1)-q*(1-1/b))
				all = logSum(all, w[j][k])
			}
			found = found || all >= most
			x = -x
		}
		if found {
			out = append(out, j)
		}
	}
	return out
}

// logSum returns log(e^a + e^b).
func logSum(a, b float64) float64 {
	high := max(a, b)
	if math.IsInf(high, -1) {
		return high
	}
	return high + math.Log1p(math.Exp(min(a, b)-high))
}

// limit is how often an honest report hits each coordinate with one sign at most, and with the other sign at least.
type limit struct{ often, rarely []float64 }

// limits returns what the Likeness says of honest reports at params, for + and for −.
func (a *PublicAlarm) limits(ctx context.Context, params []float64) (out [2]limit, err error) {
	dim := a.public.Dim()
	hits := [2][]float64{make([]float64, dim*a.clients), make([]float64, dim*a.clients)} // client by client
	at := 0
	err = a.public.Each(ctx, params, 0, a.clients, func(_ int, grad []float64) error {
		at += dim
		return a.mechanism.AddHits(hits[0][at-dim:at], hits[1][at-dim:at], grad)
	})
	if err != nil {
		return out, err
	}
	for sign := range out {
		out[sign] = limit{make([]float64, dim), make([]float64, dim)}
	}
	column := make([]float64, a.clients)
	for sign, of := range hits {
		for j := range dim {
			for i := range column {
				column[i] = of[i*dim+j]
			}
			slices.Sort(column)
			low, high := tails(column, a.like.Ratio)
			out[sign].often[j] = a.like.Others*a.top + (1-a.like.Others)*high
			out[1-sign].rarely[j] = (1 - a.like.Others) * low
		}
	}
	return out, nil
}

// tails returns the means of the smallest and of the largest 1/ratio of sorted numbers.
func tails(sorted []float64, ratio float64) (low, high float64) {
	n := len(sorted)
	share := float64(n) / ratio
	left := share
	for i := 0; left > 0 && i < n; i++ {
		w := min(1, left)
		low, high, left = low+w*sorted[i], high+w*sorted[n-1-i], left-w
	}
	return low / share, high / share
}

// Close frees the public gradients.
func (a *PublicAlarm) Close() error { return a.public.Close() }
