package pages

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
)

// The picture of who sees what has the budgets that are planned where none is given, and its narrow form has the same words.
func TestThePictureOfTrustSaysWhatIsPlanned(t *testing.T) {
	var words [2][]string
	for i, name := range []string{"who-sees-what.svg", "who-sees-what-tall.svg"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`<text [^>]*>([^<]+)</text>`).FindAllStringSubmatch(string(text), -1) {
			words[i] = append(words[i], m[1])
		}
	}
	if len(words[0]) < 30 || !slices.Equal(words[0], words[1]) {
		t.Errorf("the forms have other words: %q and %q", words[0], words[1])
	}
	all := strings.Join(words[0], "\n") + "\n"
	for trust, epsilon := range map[plan.Trust]string{plan.Nobody: "local", plan.Shuffler: "central", plan.TwoServers: "central"} {
		q := plan.Request{Mechanism: mechanisms.Auto, Trust: trust, Clients: 60000, Dim: 100, L1: 3, L2: 1, Delta: 1e-6}
		run, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p, err := run.Promise(t.Context(), run.Affordable)
		if err != nil {
			t.Fatal(err)
		}
		promised := p.LocalTotal
		if trust != plan.Nobody {
			promised = p.Central
		}
		_, card, found := strings.Cut(all, "--trust "+string(trust)+"\n")
		card, _, _ = strings.Cut(card, "--trust ")
		if want := fmt.Sprintf("\n%s ε, %g by default\n", epsilon, math.Round(*promised*100)/100); !found || !strings.Contains(card, want) {
			t.Errorf("%s: no %q in\n%s", trust, want, card)
		}
	}
}
