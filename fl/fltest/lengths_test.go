package fltest_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// The page about trust names the mechanisms whose reports have several lengths. All others have one
// length in a round, whatever the gradient and the noise are. Each is tried with 100 reports of either of two
// gradients: lengths of pckv-ue and of sumdp that vary are seen in nearly every one.
func TestThePageNamesTheMechanismsWhoseLengthsVary(t *testing.T) {
	const dim, reports = 20, 100
	found := map[string]bool{}
	for name, changes := range variants() {
		for _, change := range changes {
			r := fl.Round{ID: "r", Mechanism: name, Dim: dim, Scale: 0.5, Epsilon: 4, MinReports: 30, PublicSeed: [32]byte{2}}
			change(&r)
			_, m, err := fl.Complete(r)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewChaCha8([32]byte{9}))
			lengths := map[int]bool{}
			for i := range reports {
				gradient := make([]float64, r.Dim)
				gradient[0] = r.Scale * float64(i%2)
				report, err := m.Encode(nil, gradient, rng)
				if err != nil {
					t.Fatal(err)
				}
				lengths[len(report)] = true
			}
			if len(lengths) > 1 {
				found[name] = true
			}
		}
	}
	page, err := os.ReadFile("../../docs/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sentence, _ := strings.Cut(string(page), "The length of a report does not depend on the data, except with ")
	sentence, _, _ = strings.Cut(sentence, ".")
	var named []string
	for _, match := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(sentence, -1) {
		named = append(named, match[1])
	}
	if want := slices.Sorted(maps.Keys(found)); !slices.Equal(slices.Sorted(slices.Values(named)), want) {
		t.Errorf("the page names %q, and the lengths of %q vary", named, want)
	}
}
