package shares

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
	"github.com/hushgrad/hushgrad/privacy/compose"
)

// cut is the part of δ that pays for the clusters that are left out.
const cut = 0x1p-20

// calibrate returns one client's noise of dim coordinates for inputs in ±levels: variable 2i
// is added to coordinate i, and variable 2i+1 is subtracted.
func calibrate(r fl.Round, dim int, levels int64) (sample.Clusters, error) {
	each, err := compose.PerMechanism(r.Epsilon, r.Delta*(1-cut), 0, dim)
	if err != nil {
		return sample.Clusters{}, err
	}
	shift := levels
	if r.Relation == fl.ReplaceOne {
		shift = 2 * levels
	}
	c := sample.Clusters{Variables: 2 * dim, Clients: r.MinReports, Blocks: 1}
	c.Eta = math.Nextafter(each/float64(shift), 0) // the quotient may have been rounded up
	if c.Eta < sample.MinEta {
		return sample.Clusters{}, fl.Invalid("epsilon", r.Epsilon, "must leave at least 2^-50 for one of %d levels of a coordinate, leaves %.3g", shift, c.Eta)
	}
	for (1+math.Exp(r.Epsilon))*c.Missing() > r.Delta*cut*(1-cut) {
		c.Blocks++ // the bound falls below every δ before 2^Blocks·η reaches 2^11
	}
	return c, nil
}

// logWrap is −ln of the probability of a wrap-around, 2^−40.
const logWrap = 40 * math.Ln2

// largest bounds the absolute value of every coordinate of the sum of at most reports
// reports, except with probability 2^−40.
func largest(c sample.Clusters, levels, reports int64) float64 {
	groups := float64((reports-1)/int64(c.Clients) + 1)
	each := math.Ceil((math.Log(groups*float64(c.Variables)) + logWrap) / c.Eta * (1 + 0x1p-40))
	return float64(reports)*float64(levels) + groups*each
}

// mostRounding is the largest part of the noise's variance that rounding may add where the
// round leaves its levels open.
const mostRounding = 0.05

// chooseLevels returns the least power of two for which the rounding of MinReports clients
// adds little to the noise. Noise grows with the levels and rounding does not.
func chooseLevels(r fl.Round, dim int) (int64, error) {
	for levels := int64(1); ; levels *= 2 {
		c, err := calibrate(r, dim, levels)
		if err != nil {
			return 0, err
		}
		noise := sample.DiscreteLaplace{Eta: c.Eta}.Variance()
		if levels == 1<<20 || float64(r.MinReports)/4 <= mostRounding*noise {
			return levels, nil
		}
	}
}
