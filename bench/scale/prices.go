package scale

import (
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
)

// prices are assumptions, in the currency of whoever sets them.
type prices struct{ coreHour, gigabyteIn, gigabyteMonth float64 }

func (p *prices) bind(f *flag.FlagSet) {
	f.Float64Var(&p.coreHour, "price-core-hour", 0.05, "assumed price of a processor core for an hour")
	f.Float64Var(&p.gigabyteIn, "price-gb-in", 0.01, "assumed price of 10^9 bytes that come in, with the load balancer")
	f.Float64Var(&p.gigabyteMonth, "price-gb-month", 0.1, "assumed price of 10^9 bytes of disk for a month")
}

func (p *prices) validate() error {
	for _, v := range []struct {
		name  string
		value float64
	}{{"--price-core-hour", p.coreHour}, {"--price-gb-in", p.gigabyteIn}, {"--price-gb-month", p.gigabyteMonth}} {
		if !(v.value >= 0 && v.value <= 1e6) {
			return fl.Invalid(v.name, v.value, "must be in [0, 1e6]")
		}
	}
	return nil
}

// roundHours is how long a round is assumed to keep its journal.
const roundHours = 24

// of is the price of a round: core seconds of the server, bytes that come in, bytes of its journal
// for a day.
func (p *prices) of(coreSeconds, bytes, journal float64) float64 {
	const monthHours = 730
	return coreSeconds/3600*p.coreHour + bytes/1e9*p.gigabyteIn + journal/1e9*p.gigabyteMonth*roundHours/monthHours
}
