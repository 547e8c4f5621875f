package privacy

import (
	"slices"
	"sync"

	"github.com/hushgrad/hushgrad/internal/binomial"
)

// tables are the shortfall tables for one bound and one number of clients. A table serves every
// central ε for which it reaches far enough down. That makes many evaluations of δ much cheaper
// than the first.
type tables struct {
	budget  int // entries of the tables of one δ, about
	kept    []*shortfall
	entries int // of all tables kept
}

// forgetAt is how many times the budget the kept tables may have before they are dropped.
const forgetAt = 3

// at returns a table for n clients when k of them are of kind A or B. It was made for table.start <= k of
// them. length returns the number of values of k that a table may serve.
func (s *tables) at(b *bound, t tilt, n, k int, length func(*shortfall) int) *shortfall {
	i, same := slices.BinarySearchFunc(s.kept, k, func(table *shortfall, k int) int { return table.start - k })
	if !same {
		i--
	}
	if i >= 0 {
		if table := s.kept[i]; table.reaches(n-table.start, t) && table.start+length(table) > k {
			return table
		}
	}
	table, spare := &shortfall{start: k}, 0
	if len(s.kept) > 0 { // another ε will want it as well
		spare = len(s.kept[0].values)/16 + 1
	}
	table.fill(n-k, b.neutral, b.unneutral, t.neutral, t.unneutral, spare)
	if s.entries += len(table.values); s.entries > forgetAt*s.budget {
		s.kept, s.entries, i, same = nil, len(table.values), -1, false
	}
	if same {
		s.entries -= len(s.kept[i].values)
		s.kept[i] = table
	} else {
		s.kept = slices.Insert(s.kept, i+1, table)
	}
	return table
}

// reaches says whether what is below the table has a small enough probability under the tilt: that
// its first value is at most the one that fill would choose.
func (s *shortfall) reaches(n int, t tilt) bool {
	if s.first == 0 {
		return true
	}
	return float64(s.first) <= float64(n)*t.neutral && binomial.LogChernoff(s.first-1, n, t.neutral, t.unneutral) <= binomial.LogTail
}

// Curve returns Delta of n clients as a function of the central ε. It keeps tables from one call
// to the next, and is several times faster where it is called often. What it returns differs from
// Delta by rounding and by less than what Delta adds for the tails that it cuts. It is safe for
// concurrent use, one call at a time.
func (b *Blanket) Curve(n int) func(epsilonCentral float64) (float64, error) {
	var mu sync.Mutex
	kept := &tables{budget: b.budget()}
	return func(epsilonCentral float64) (float64, error) {
		mu.Lock()
		defer mu.Unlock()
		return b.checkedDelta(n, epsilonCentral, kept)
	}
}
