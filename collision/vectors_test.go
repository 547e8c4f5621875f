package collision

import (
	"testing"

	"github.com/hushgrad/hushgrad/internal/mechtest"
)

// The bytes of reports and snapshots, as docs/report-format.md describes them.
func TestVectors(t *testing.T) { mechtest.CheckVectors(t, Name, "testdata/vectors.json") }
