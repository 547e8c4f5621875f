package parties

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/examples/internal/liar"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/splitmix"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server/client"
)

// What liars do.
const (
	BiasAttack    = "bias"    // one crafted report, or one for each token, raises the bias of one class
	ReverseAttack = "reverse" // they report the longest gradient against their own
	LabelsAttack  = "labels"  // their examples have another class than they say
	// BackdoorAttack: one crafted report makes marked pictures look like one class, and leaves other pictures as they are.
	BackdoorAttack = "backdoor"
)

// Attacks are the names of what liars do.
func Attacks() []string { return []string{BiasAttack, ReverseAttack, LabelsAttack, BackdoorAttack} }

// Liars are the clients that lie. The same clients lie in all rounds.
type Liars struct {
	Share  float64
	Attack string

	backdoor *backdoor // set by Prepare

	mu      sync.Mutex
	round   string // of crafted
	crafted []byte
}

// bind adds the flags to a set.
func (l *Liars) bind(f *flag.FlagSet) {
	f.Float64Var(&l.Share, "liars", 0, "share of the clients that lie in every round, to see what they do; 0: none")
	l.Attack = BiasAttack
	command.OneOf(f, &l.Attack, "attack", "", Attacks(), "what liars do: bias, all of them send one crafted report for the bias of class 0, or with --roles 3 each the best with its token's seed; reverse, each reports a gradient against its own, as long as the clip allows; labels, each learns from a next class in place of its own; backdoor, all of them send one crafted report for weights of class 0 that a mark on pictures meets, or each its own as with bias")
}

// check refuses liars that the request has no use for.
func (l *Liars) check(q *plan.Request) error {
	switch {
	case !(l.Share >= 0 && l.Share <= 1):
		return fl.Invalid("--liars", l.Share, "must be in [0, 1]")
	case !slices.Contains(Attacks(), l.Attack):
		return fl.Invalid("--attack", l.Attack, "must be among %s", strings.Join(Attacks(), ", "))
	case l.Share > 0 && q.Trust == plan.OwnSite:
		return fl.Invalid("--liars", l.Share, "must be 0 with --trust %s: a site that lies can send any sum", q.Trust)
	}
	return nil
}

// Lies says whether a client lies, by its number.
func (l *Liars) Lies(number int) bool {
	return float64(splitmix.Mix(uint64(number)+1)>>11)*0x1p-53 < l.Share
}

// Labels returns what n clients say of their examples, which they hold as in trainer.NewClientsInOrder: liars of LabelsAttack name the next class.
func (l *Liars) Labels(labels []int, n, classes int, order []int) []int {
	if l.Attack != LabelsAttack {
		return labels
	}
	labels = slices.Clone(labels)
	each := len(order) / n
	for i, at := range order[:each*n] {
		if l.Lies(i / each) {
			labels[at] = (labels[at] + 1) % classes
		}
	}
	return labels
}

// Report returns the report of a client that lies in a round in which it takes part.
func (l *Liars) Report(part *client.Participation, grad []float64, first int, rng *rand.Rand) ([]byte, error) {
	return l.ReportTo(part.Round(), part.Mechanism(), part.Encode, grad, first, rng)
}

// ReportTo returns the report of a client that lies to a round of a mechanism. encode is what honest clients do, first the first coordinate of the
// biases, and grad the client's gradient, which is changed.
func (l *Liars) ReportTo(r fl.Round, m fl.Mechanism, encode func([]byte, []float64, *rand.Rand) ([]byte, error), grad []float64, first int, rng *rand.Rand) ([]byte, error) {
	if l.Attack == LabelsAttack {
		return encode(nil, grad, rng) // the labels have lied
	}
	if l.Attack == ReverseAttack {
		for j := range grad {
			grad[j] *= -1e6 // it is clipped
		}
		return encode(nil, grad, rng)
	}
	direction := make([]float64, r.Dim)
	direction[first] = -1 // a step goes against the gradient
	if l.backdoor != nil {
		direction = l.backdoor.along(r.Dim)
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	if m, ok := m.(fl.SeededMechanism); ok && len(r.IssuerKey) > 0 {
		honest, err := m.Encode(nil, grad, rng)
		if err != nil {
			return nil, err
		}
		seed, err := m.SeedOf(honest)
		if err != nil {
			return nil, err
		}
		return liar.CraftAssigned(r, seed, direction, rng)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.round != r.ID {
		report, err := liar.Craft(r, direction, liar.Tries, rng)
		if err != nil {
			return nil, fmt.Errorf("round %s: %w", r.ID, err)
		}
		l.round, l.crafted = r.ID, report
	}
	return l.crafted, nil
}
