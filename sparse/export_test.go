package sparse

import "github.com/hushgrad/hushgrad/fl"

// Definition returns what a mechanism supplied, for the tests of all slotted mechanisms.
func (s *Scheme) Definition() Definition { return s.definition }

// MostHits is the bound above which an item's hits are suspect.
var MostHits = mostHits

// FamilyOf returns the hash family and the number of slots of a mechanism.
func FamilyOf(m fl.SparseMechanism) (HashFamily, int) {
	own := m.(*mechanism)
	return own.family, own.point.Slots
}

// LayoutOf returns a mechanism's layout.
func LayoutOf(m fl.SparseMechanism) Layout { return m.(*mechanism).scheme.definition.Layout }

// LargestChance is the largest probability of a slot in a report.
func LargestChance(m fl.SparseMechanism) float64 {
	w := m.(*mechanism).weights
	return float64(w.High) / float64(w.Total)
}
