package coco

import (
	"testing"

	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

func TestRoundsHaveTheExactError(t *testing.T) {
	sparsetest.CheckRounds(t, Name, BestSlots, calibration)
}
