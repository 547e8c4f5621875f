package keyvalue

import (
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// SizeClasses are the numbers of pairs by which clients say how many they hold: 1, 2, 3, … and then each
// one a quarter larger than the one before, up to largest in [1, fl.MaxDim]. A class is called by its
// largest number. The error is a *fl.ParamError (wrapped).
func SizeClasses(largest int) ([]int, error) {
	if largest < 1 || largest > fl.MaxDim {
		return nil, fmt.Errorf("pckv: size classes: %w", fl.Invalid("largest", largest, "must be in [1, %d]", fl.MaxDim))
	}
	classes := []int{1}
	for c := 1; c < largest; {
		c = min(max(c+1, c+c/4), largest)
		classes = append(classes, c)
	}
	return classes, nil
}

// SizePair is the pair by which a client that holds a number of pairs reports it, in a round of its own
// with a key for each class and the padding length 1: the key of the first class that is as large, or
// of the last one, with the value 1. [PaddingFromSizes] chooses the padding length from such a round.
// Clients that take part in it stay out of the round of the pairs: then each of them spends the budget
// of one report. classes are not empty.
func SizePair(held int, classes []int) fl.KeyValue {
	class, _ := slices.BinarySearch(classes, held)
	return fl.KeyValue{Key: uint32(min(class, len(classes)-1)), Value: 1}
}

// PaddingFromSizes is the padding length ℓ that a share of the clients does not exceed, by the
// frequencies of a round of SizePair: the share 0.9 is the baseline of Section 5.1. The frequencies
// are projected on the simplex first, which costs no privacy. The error is a *fl.ParamError
// (wrapped) unless the estimate has a finite frequency for each class, of which there is one at
// least, and share is in (0, 1]. O(classes·log classes).
func PaddingFromSizes(sizes *fl.Estimate, classes []int, share float64) (int, error) {
	if !(share > 0 && share <= 1) {
		return 0, fmt.Errorf("pckv: padding: %w", fl.Invalid("share", share, "must be in (0, 1]"))
	}
	frequency, ok := sizes.Column(fl.ColumnFrequency)
	if !ok || len(frequency.Value) != len(classes) {
		return 0, fmt.Errorf("pckv: padding: %w", fl.Invalid("sizes", fmt.Sprintf("%d frequencies", len(frequency.Value)), "must be of a round with a key for each of %d classes, and the column %s", len(classes), fl.ColumnFrequency))
	}
	shares := slices.Clone(frequency.Value)
	if err := Simplex(shares, shares, 1); err != nil {
		return 0, fmt.Errorf("pckv: padding: %w", err)
	}
	total := 0.0
	for i, s := range shares {
		if total += s; total >= share-1e-9 { // the sum is rounded
			return classes[i], nil
		}
	}
	return classes[len(classes)-1], nil
}
