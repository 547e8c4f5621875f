package plan

import (
	"context"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// ClientsFor returns the smallest number of clients, within 1 %, with which some
// mechanism has at most the given error (root mean squared per coordinate, ternary
// units) under the rest of the demand. The error wraps ErrInfeasible if
// fl.MaxReports are not enough. ClientsFor ends with the error of ctx once that is done.
//
// Cost: as much as a few dozen Plans.
func (d Demand) ClientsFor(ctx context.Context, maxError float64) (int, error) {
	if !(maxError > 0) || math.IsInf(maxError, 1) {
		return 0, fmt.Errorf("plan: %w", fl.Invalid("error", maxError, "must be finite and > 0"))
	}
	enough := func(clients int) (bool, error) {
		d := d
		d.Clients = clients
		plans, err := Plans(ctx, d)
		return err == nil && plans[0].Error <= maxError, err
	}
	least := 2 * (d.Rounds + d.Participations - 1) / max(1, d.Participations)
	below, n := 0, max(2, least)
	for {
		ok, err := enough(n)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if n == fl.MaxReports {
			return 0, fmt.Errorf("plan: %w: an error of %g takes more than %d clients", ErrInfeasible, maxError, fl.MaxReports)
		}
		below, n = n, min(2*n, fl.MaxReports)
	}
	for n-below > max(1, n/100) {
		mid := below + (n-below)/2
		ok, err := enough(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			n = mid
		} else {
			below = mid
		}
	}
	return n, nil
}
