package hdsum

import (
	"slices"
	"testing"
)

func TestCanonicalSortsAndMerges(t *testing.T) {
	got := canonical([]Message{{2, -1, 3}, {0, 7, 1}, {2, -1, 2}, {2, -5, 1}, {0, -7, 4}, {1, 0, 1}, {2, -1, 1}})
	want := Multiset{{0, -7, 4}, {0, 7, 1}, {1, 0, 1}, {2, -5, 1}, {2, -1, 6}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got.Messages() != 13 {
		t.Errorf("%d messages, want 13", got.Messages())
	}
	if got := canonical(nil); len(got) != 0 || got.Messages() != 0 {
		t.Errorf("nothing became %v", got)
	}
}
