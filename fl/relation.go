package fl

import "fmt"

// Relation says which pairs of data sets a guarantee calls neighbours. No
// guarantee in this module is stated without one.
type Relation uint8

const (
	// ReplaceOne: one client's input is replaced by any other input; the number
	// of clients is public. Local privacy is always of this kind.
	ReplaceOne Relation = 1
	// ZeroOut: one client's input is replaced by the zero input; the number of
	// clients is public. Weaker than ReplaceOne by up to a factor 2 in ε.
	ZeroOut Relation = 2
)

func (r Relation) String() string {
	switch r {
	case ReplaceOne:
		return "replace-one"
	case ZeroOut:
		return "zero-out"
	}
	return fmt.Sprintf("Relation(%d)", uint8(r))
}
