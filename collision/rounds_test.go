package collision

import (
	"testing"

	"github.com/hushgrad/hushgrad/internal/mechtest"
)

func TestRoundsHaveTheExactError(t *testing.T) {
	mechtest.CheckRounds(t, Name, BestSlots, calibration)
}
