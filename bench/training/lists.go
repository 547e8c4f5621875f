package training

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
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
			return nil, fl.Invalid("-mechanisms", name, "must be among %s", strings.Join(contenderNames(), ", "))
		}
		out = append(out, contenders[i])
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
