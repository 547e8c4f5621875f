package trainer

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
)

// Every site sees its own records, and all of them: the turns go round, and what is left over belongs to no site.
func TestSitesHoldTheirRecords(t *testing.T) {
	c, clients := someClients(t, 700, 700)
	g, params := on(t, c, clients, false), c.params(testRand(4))
	var want [][]float64
	if err := g.Each(t.Context(), params, 0, 700, func(_ int, grad []float64) error {
		want = append(want, slices.Clone(grad))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	next := 4
	if err := EachSite(t.Context(), g, 3, params, 4, 8, func(turn int, records iter.Seq[[]float64]) error {
		if turn != next {
			t.Errorf("turn %d, want %d", turn, next)
		}
		next++
		i := turn % 3 * 233
		for grad := range records {
			if !slices.Equal(grad, want[i]) {
				t.Fatalf("turn %d: record %d has another gradient", turn, i)
			}
			i++
		}
		if i != (turn%3+1)*233 {
			t.Errorf("turn %d: the records end before %d", turn, i)
		}
		return nil
	}); err != nil || next != 8 {
		t.Errorf("%d turns, %v", next-4, err)
	}
}

// A part of a site's records is never taken for all of them.
func TestSitesErrors(t *testing.T) {
	c, clients := someClients(t, 600, 600)
	g, params := on(t, c, clients, false), c.params(testRand(4))
	for _, sites := range []int{0, 601} {
		refuses(t, EachSite(t.Context(), g, sites, params, 0, 1, nil), "trainer: sites: got")
	}
	full := errors.New("no room")
	for name, refusal := range map[string]error{"nothing": nil, "an error": full} {
		if err := EachSite(t.Context(), g, 2, params, 0, 1, func(_ int, records iter.Seq[[]float64]) error {
			for range records {
				break
			}
			return refusal
		}); err == nil || refusal != nil && !errors.Is(err, refusal) {
			t.Errorf("a site that looks at one record and returns %s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	if err := EachSite(ctx, g, 1, params, 0, 1, func(_ int, records iter.Seq[[]float64]) error {
		for range records {
			seen++
			cancel()
		}
		return nil
	}); !errors.Is(err, context.Canceled) || seen != together {
		t.Errorf("canceled after %d records: %v", seen, err)
	}
}
