package command

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	flag "github.com/spf13/pflag"
)

const (
	// maxSlips is the number of letters by which a name may differ from the one that was meant.
	maxSlips = 2
	// maxMeant is the most that an error asks about.
	maxMeant = 4
)

// Similar returns the names that may have been meant by another one, the likeliest first: those that differ from it by a
// letter or two, or begin with it. It takes capitals, and _ or a blank in place of -, for no difference.
func Similar(names []string, name string) []string {
	name = plain(name)
	if len(name) < 2 {
		return nil
	}
	slips := map[string]int{}
	var found []string
	for _, one := range names {
		slips[one] = levenshtein.ComputeDistance(plain(one), name)
		if slips[one] <= min(maxSlips, len(name)-1) || strings.HasPrefix(plain(one), name) {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(slips[a], slips[b]) })
	return found[:min(len(found), maxMeant)]
}

// similarFlags returns the flags that may have been meant by a name.
func similarFlags(f *flag.FlagSet, name string) []string {
	var flags []string
	f.VisitAll(func(g *flag.Flag) { flags = append(flags, g.Name) })
	return Similar(flags, name)
}

// plain returns a name without what is easily mistaken.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", " ", "-").Replace(name))
}
