package shufflesum

import (
	"math"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func TestBuckets(t *testing.T) {
	want := population{{Value: 0, Clients: 1}, {Value: 3, Clients: 2}, {Value: 10, Clients: 1}}
	if got := buckets([]float64{0.26, 1, 0.04, 0.34}, 10); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// With few buckets the error is the error of rounding, which noise changes by little: at U = 100 the
// noise of SumDP is below 8/100·30 but with probability e^−30.
func TestRealsHaveTheRoundingError(t *testing.T) {
	r, err := quickly(t, t.Context(), "reals", experiment.Env{Seed: 3, Quick: true, Repeats: 3, Jobs: 1}, "--relation", "zeroout", "--epsilon", "10")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, row := range r.Rows {
		if rounding, most := row[6].(float64), row[7].(float64); rounding > most || most != 1e5/float64(2*row[1].(int64)) {
			t.Errorf("%v", row)
		}
		if row[1] == int64(100) && row[2] == sumDPName {
			seen++
			if e, rounding := row[3].(float64), row[6].(float64); math.Abs(e-rounding) > 2.4 {
				t.Errorf("error %g, rounding %g", e, rounding)
			}
		}
	}
	if seen != 1 {
		t.Errorf("%d rows", seen)
	}
}
