package verify

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// tier is one tier of a menu as a mechanism: clients that all choose it.
type tier struct {
	fl.Mechanism
	menu   fl.TieredMechanism
	number int
}

// Encode implements fl.Mechanism, under the guarantee of the tier.
func (t tier) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return t.menu.EncodeTier(dst, t.number, grad, rng)
}

// Guarantee implements fl.Mechanism.
func (t tier) Guarantee() fl.Guarantee { return t.menu.Tiers()[t.number] }

// checkTiers checks each tier of a menu against its own promise. The confidence is for all
// tiers together.
func checkTiers(ctx context.Context, menu fl.TieredMechanism, r fl.Round, o Options) (*Report, error) {
	count := len(menu.Tiers())
	if count == 0 {
		return nil, fl.Invalid("mechanism", r.Mechanism, "must have at least one tier")
	}
	o.Confidence = 1 - (1-o.Confidence)/float64(count)
	o.Time /= time.Duration(count)
	reports := make([]*Report, count)
	for i := range reports {
		var err error
		if reports[i], err = checkOne(ctx, tier{menu, menu, i}, r, o); err != nil {
			return nil, fmt.Errorf("tier %d: %w", i, err)
		}
	}
	shown := slices.IndexFunc(reports, func(r *Report) bool { return !r.Holds && !r.Undecided })
	if shown < 0 {
		shown = slices.IndexFunc(reports, func(r *Report) bool { return r.Undecided })
	}
	if shown < 0 {
		shown = count - 1
	}
	all := *reports[shown]
	all.Tiers, all.Notes = reports, nil
	return &all, nil
}

// writeTiers writes the report of each tier.
func (r *Report) writeTiers(w io.Writer) error {
	for i, tier := range r.Tiers {
		if _, err := fmt.Fprintf(w, "Tier %d of 0 to %d. ", i, len(r.Tiers)-1); err != nil {
			return err
		}
		if err := tier.Write(w); err != nil {
			return err
		}
	}
	return writeNotes(w, r.Notes)
}
