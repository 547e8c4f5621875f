package training

import (
	"math"
	"slices"
	"strconv"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
)

func contenderNames() []string {
	var names []string
	for _, c := range contenders {
		names = append(names, c.name)
	}
	return names
}

// parseContenders reads names between commas; none are all.
func parseContenders(list string) ([]contender, error) {
	if list == "" {
		return contenders, nil
	}
	var out []contender
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(contenderNames(), strings.TrimSpace(name))
		if i < 0 {
			return nil, fl.Invalid("--mechanisms", name, "must be among %s", strings.Join(contenderNames(), ", "))
		}
		out = append(out, contenders[i])
	}
	return out, nil
}

// bindClasses adds the flags that say what the files of --data hold, and returns the classes and whether rows and columns are swapped.
func bindClasses(flags *flag.FlagSet) (classes *int, transpose *bool) {
	return flags.Int("classes", 10, "number of labels of --data DIR"), flags.Bool("transpose", false, "swap rows and columns of the pictures of --data DIR, as EMNIST's files need")
}

// parseFeatures reads names of features, or more names, between commas, each once.
func parseFeatures(list string, more ...string) ([]string, error) {
	known, out := slices.Concat(dataset.FeatureNames(), more), []string(nil)
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) || slices.Contains(out, name) {
			return nil, fl.Invalid("--features", name, "must be among %s, each once", strings.Join(known, ", "))
		}
		out = append(out, name)
	}
	return out, nil
}

// parseEpsilons reads numbers between commas; none are nil.
func parseEpsilons(flag, list string) ([]float64, error) {
	if list == "" {
		return nil, nil
	}
	var out []float64
	for text := range strings.SplitSeq(list, ",") {
		epsilon, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(epsilon > 0 && epsilon <= fl.MaxEpsilon) {
			return nil, fl.Invalid(flag, text, "must be numbers in (0, %d]", fl.MaxEpsilon)
		}
		out = append(out, epsilon)
	}
	return out, nil
}

// bindSumDP adds the flags of the contender sumdp and returns what reads them as the
// parameters of its rounds.
func bindSumDP(flags *flag.FlagSet) func() fl.Params {
	span := flags.Float64("range", 0.8, "sumdp: largest rotated coordinate, in units of clip/√dim; larger ones are clipped, and noise grows in proportion")
	levels := flags.Int("levels", 1, "sumdp: integer levels of a rotated coordinate")
	base := flags.String("base", hdsum.Auto.String(), "sumdp: the sum below, gkmps or bbgn; auto: the one with the shorter reports")
	calibration := flags.String("calibration", hdsum.CalibrationCertified.String(), "sumdp: constants of gkmps, published, certified or tight; tight sends fewer messages")
	return func() fl.Params {
		p := fl.Params{hdsum.ParamRange: fl.Real(*span), hdsum.ParamLevels: fl.Int(*levels), hdsum.ParamCalibration: fl.Text(*calibration)}
		if *base != hdsum.Auto.String() {
			p[hdsum.ParamBase] = fl.Text(*base)
		}
		return p
	}
}

// tier is a part of the clients and the local ε that they choose.
type tier struct{ epsilon, share float64 }

// parseTiers reads "0.5:0.5,2:0.3,8:0.2": increasing ε with shares that sum to 1.
func parseTiers(text string) ([]tier, error) {
	var tiers []tier
	sum := 0.0
	for field := range strings.SplitSeq(text, ",") {
		left, right, ok := strings.Cut(field, ":")
		epsilon, errE := strconv.ParseFloat(strings.TrimSpace(left), 64)
		share, errS := strconv.ParseFloat(strings.TrimSpace(right), 64)
		if !ok || errE != nil || errS != nil || !(epsilon > 0 && epsilon <= fl.MaxEpsilon) || !(share > 0 && share <= 1) ||
			len(tiers) > 0 && epsilon <= tiers[len(tiers)-1].epsilon {
			return nil, fl.Invalid("--tiers", text, `must be increasing ε with shares, like "0.5:0.5,2:0.3,8:0.2"`)
		}
		tiers = append(tiers, tier{epsilon, share})
		sum += share
	}
	if math.Abs(sum-1) > 1e-9 {
		return nil, fl.Invalid("--tiers", text, "the shares must sum to 1, they sum to %g", sum)
	}
	if len(tiers) < 2 {
		return nil, fl.Invalid("--tiers", text, "must be at least two tiers")
	}
	return tiers, nil
}
