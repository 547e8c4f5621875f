package abi

import (
	"slices"
	"testing"
)

// Rows are read where they lie, aligned or not, and on machines of either byte order.
func TestRowsAreReadFromEveryPlace(t *testing.T) {
	defer func(little bool) { hostIsLittle = little }(hostIsLittle)
	want := []float64{0.5, -2, 0, 3}
	for range 2 {
		for at := range 8 {
			var narrow []float32
			var wide, more []float64
			f4, f8 := append(make([]byte, at), floats(true, want...)...)[at:], append(make([]byte, at), floats(false, want...)...)[at:]
			if got := widened(numbersOf(f4, &narrow), &more); !slices.Equal(got, want) {
				t.Errorf("float32 at %d: %v", at, got)
			}
			if got := numbersOf(f8, &wide); !slices.Equal(got, want) {
				t.Errorf("float64 at %d: %v", at, got)
			}
		}
		hostIsLittle = false // as on a machine of the other order, numbers are then read byte by byte
	}
}

// No copy of a row is made where the machine can read it as it is: memory of this size is aligned.
func TestAlignedRowsAreNotCopied(t *testing.T) {
	if !hostIsLittle {
		t.Skip("this machine has the other byte order")
	}
	var narrow []float32
	var wide []float64
	numbersOf(make([]byte, 4096), &narrow)
	numbersOf(make([]byte, 4096), &wide)
	if narrow != nil || wide != nil {
		t.Error("an aligned row was copied")
	}
}
