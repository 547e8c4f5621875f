package privacy

import (
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/internal/bigref"
)

func TestLossesNearTheLocalEpsilon(t *testing.T) {
	b := mustBlanket(t, 2, 3, 4)
	for _, gap := range []float64{0x1p-1, 0x1p-20, 0x1p-45} {
		l := b.losses(2 - gap)
		q := bigref.Exp(2 - gap)
		e := bigref.Exp(2)
		gain := new(big.Float).Sub(e, bigref.Of(1))
		for _, c := range []struct {
			name string
			got  float64
			want *big.Float
		}{
			{"favour", l.favour, bigref.Quo(new(big.Float).Sub(e, q), gain)},
			{"against", l.against, bigref.Quo(new(big.Float).Sub(bigref.Mul(e, q), bigref.Of(1)), gain)},
			{"neutral", l.neutral, bigref.Quo(bigref.Mul(e, new(big.Float).Sub(q, bigref.Of(1))), gain)},
			{"width", l.width, bigref.Add(q, bigref.Of(1))},
		} {
			want, _ := c.want.Float64()
			if math.Abs(c.got/want-1) > 2e-15 {
				t.Errorf("gap %v: %s: got %v, want %v", gap, c.name, c.got, want)
			}
		}
	}
}
