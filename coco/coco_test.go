package coco

import (
	"testing"

	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

func TestRoundsHaveTheExactError(t *testing.T) {
	sparsetest.CheckRounds(t, Scheme, *long)
}

// The bytes of reports and snapshots, as docs/report-format.md describes them.
func TestVectors(t *testing.T) { sparsetest.CheckVectors(t, Name, "testdata/vectors.json") }
