package trainer

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// EachSite computes the gradients of records at sites, such as hospitals, which hold many records each. A record is
// one client of g: site i holds the records i·n, …, (i+1)·n−1, where n is g.Len()/sites. What is left over is not used. Sites take
// part in turn, as clients do.
//
// For the sites whose turns are first, …, last−1 it calls visit, in this order, with the gradients of the site's records
// at params. A gradient is valid until the next one, and may be changed. A sequence that ends early is an
// error of EachSite, also where visit returned none: what visit made of it lacks records. EachSite ends with the first error of visit or
// of g.
func EachSite(ctx context.Context, g Gradients, sites int, params []float64, first, last int, visit func(turn int, records iter.Seq[[]float64]) error) error {
	if sites < 1 || sites > g.Len() {
		return invalid("sites", sites, "must be in [1, %d], the number of records", g.Len())
	}
	n := g.Len() / sites
	for turn := first; turn < last; turn++ {
		from := turn % sites * n
		var broken error
		err := visit(turn, func(yield func([]float64) bool) {
			broken = g.Each(ctx, params, from, from+n, func(_ int, grad []float64) error {
				if !yield(grad) {
					return errEnough
				}
				return nil
			})
		})
		if broken != nil && (err == nil || !errors.Is(broken, errEnough)) { // the cause of err, where there are both
			err = broken
		}
		if err != nil {
			return fmt.Errorf("site %d: %w", turn%sites, err)
		}
	}
	return nil
}

// errEnough is returned where visit looked at some of a site's records only.
var errEnough = errors.New("trainer: not all records were taken")
