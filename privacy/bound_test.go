package privacy

import (
	"math"
	"math/big"
	"testing"
)

func TestLossesNearTheLocalEpsilon(t *testing.T) {
	b := mustBlanket(t, 2, 3, 4)
	for _, gap := range []float64{0x1p-1, 0x1p-20, 0x1p-45} {
		l := b.losses(2 - gap)
		q := bigExp(2 - gap)
		e := bigExp(2)
		gain := new(big.Float).Sub(e, bigOf(1))
		for _, c := range []struct {
			name string
			got  float64
			want *big.Float
		}{
			{"favour", l.favour, bigQuo(new(big.Float).Sub(e, q), gain)},
			{"against", l.against, bigQuo(new(big.Float).Sub(bigMul(e, q), bigOf(1)), gain)},
			{"neutral", l.neutral, bigQuo(bigMul(e, new(big.Float).Sub(q, bigOf(1))), gain)},
			{"width", l.width, bigAdd(q, bigOf(1))},
		} {
			want, _ := c.want.Float64()
			if math.Abs(c.got/want-1) > 2e-15 {
				t.Errorf("gap %v: %s: got %v, want %v", gap, c.name, c.got, want)
			}
		}
	}
}
