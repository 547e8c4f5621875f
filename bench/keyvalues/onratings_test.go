package keyvalues

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// A file of ratings runs, with the padding length that is asked for or a private one, and goes on from a
// checkpoint.
func TestPairsOfAFileAreMeasured(t *testing.T) {
	var text strings.Builder
	for client := range 3000 {
		for key := range 1 + client%3 {
			fmt.Fprintf(&text, "c%d,k%d,%d\n", client, key*(1+client%5), 1+client%5)
		}
	}
	path := filepath.Join(t.TempDir(), "ratings.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for padding, note := range map[string]string{"0": "3000 users, 9 keys, ℓ = ", "2": "3000 users, 9 keys, ℓ = 2."} {
		r, err := start(t, t.Context(), "fig10-pckv", experiment.Env{Seed: 5, Quick: true, Jobs: 2}, "--pairs", path, "--padding", padding)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(); err != nil || len(r.Rows) != 2*4*2 || len(r.Verdicts) != 2 || !strings.Contains(strings.Join(r.Notes, "\n"), note) {
			t.Errorf("padding %s: %d rows, %v, %v", padding, len(r.Rows), r.Notes, err)
		}
		if !strings.Contains(strings.Join(r.Notes, "\n"), "ratings.csv: 90 % of the clients hold at most 3 pairs") {
			t.Errorf("notes %q", r.Notes)
		}
		if err := paint.SVG(io.Discard, r.Plot); err != nil {
			t.Error(err)
		}
	}
	for flag, args := range map[string][]string{"--padding": {"--pairs", path, "--padding", "-1"}, "pairs": {"--pairs", os.DevNull}} {
		var p *fl.ParamError
		if _, err := start(t, t.Context(), "fig10-pckv", experiment.Env{Quick: true, Jobs: 1}, args...); !errors.As(err, &p) || p.Param != flag {
			t.Errorf("%q: %v, want a ParamError for %s", args, err, flag)
		}
	}
}

// A private choice among many clients is the true quantile, up to the width of a class.
func TestPrivatePaddingIsNearTheQuantile(t *testing.T) {
	p := &ratings{dim: 20, first: []int{0}}
	for client := range 200_000 {
		for key := range 2 + 10*(client%5/4) {
			p.pairs = append(p.pairs, rating{key: uint32(key)})
		}
		p.first = append(p.first, len(p.pairs))
	}
	if got := p.sizeQuantile(sizeShare); got != 12 {
		t.Errorf("quantile %d, want 12", got)
	}
	// A fifth of 20 000 reports are in the class of 12, and the standard error of a class is 0.03.
	if got, err := privatePadding(p, rand.New(rand.NewChaCha8([32]byte{1}))); err != nil || got < 12 || got > 15 {
		t.Errorf("%d, want 12 to 15, %v", got, err)
	}
}

// A stand-in has the numbers of its data set: every user a rating, keys in order and once each, and
// the sum of the others within 6 standard deviations of geometric numbers.
func TestStandInsHaveTheirNumbers(t *testing.T) {
	for _, in := range standIns {
		in = in.smaller(max(1, in.ratings/100_000))
		data, err := in.open(rand.New(rand.NewChaCha8([32]byte{7})))
		if err != nil {
			t.Fatal(err)
		}
		p := data.(*ratings)
		more := float64(in.ratings)/float64(in.users) - 1
		deviation := math.Sqrt(float64(in.users) * more * (1 + more))
		if p.clients() != in.users || math.Abs(float64(len(p.pairs)-in.ratings)) > 6*deviation+1 {
			t.Errorf("%s: %d users, %d ratings, want %d and %d ± %.0f", in.name, p.clients(), len(p.pairs), in.users, in.ratings, deviation)
		}
		for client := range p.clients() {
			own := p.of(client)
			sorted := slices.IsSortedFunc(own, func(a, b rating) int { return int(a.key) - int(b.key) })
			if len(own) == 0 || !sorted || len(slices.CompactFunc(slices.Clone(own), func(a, b rating) bool { return a.key == b.key })) != len(own) {
				t.Fatalf("%s: client %d has %v", in.name, client, own)
			}
		}
		truth := p.truth()
		if truth.frequency[0] < 3*truth.frequency[in.keys/2] {
			t.Errorf("%s: the first key has %g, one in the middle %g", in.name, truth.frequency[0], truth.frequency[in.keys/2])
		}
	}
}

func TestClaimsAboutRatings(t *testing.T) {
	s := ratingSweep(experiment.Env{Quick: true})
	for _, in := range standIns {
		s.sources = append(s.sources, source{name: in.name, dim: in.keys})
	}
	paper := func(p *point, _ gauge, _ int) float64 {
		if p.name == "Movie" {
			return map[string]float64{pckvGRR.label: 1, pckvUE.label: 2}[p.rival.label] + map[bool]float64{false: 3}[p.rival.isPCKV()]
		}
		return map[string]float64{pckvUE.label: 1, pckvGRR.label: 4}[p.rival.label] + map[bool]float64{false: 3}[p.rival.isPCKV()]
	}
	errors := func(p *point, g gauge, r int) float64 {
		e := paper(p, g, r)
		if p.name == "Amazon" {
			e *= map[quantity]float64{frequency: 0.5, mean: 2}[g.of]
		}
		return e
	}
	all := s.claimsOfRatings(madeUp(&s, errors))
	if got := outcomes(all); got != "yes yes yes yes yes yes yes yes yes yes yes yes yes yes" {
		t.Errorf("as claimed: %s", got)
	}
	// On the last one GRR has 1, UE 2 and the others 3.
	if !strings.Contains(all[6].Detail, "2 [2, 2] times the error of PCKV-GRR") || !strings.Contains(all[7].Detail, "1.5 [1.5, 1.5] times the error of the worse one of PCKV-UE and PCKV-GRR") {
		t.Errorf("margins: %q, %q", all[6].Detail, all[7].Detail)
	}
	for _, v := range all {
		if v.Missing == "" {
			t.Errorf("a stand-in settles a claim about the data: %+v", v)
		}
	}
	if got := outcomes(s.claimsOfRatings(madeUp(&s, func(p *point, g gauge, r int) float64 { return 1 / errors(p, g, r) }))); got != "no no no no no no no no no no no no yes yes" {
		t.Errorf("otherwise: %s", got)
	}
	// PCKV-UE has to be second on the last one.
	third := func(p *point, g gauge, r int) float64 {
		if p.rival.label == pckvUE.label && p.name == "Movie" {
			return 100
		}
		return errors(p, g, r)
	}
	if got := outcomes(s.claimsOfRatings(madeUp(&s, third))); got != "yes yes yes yes yes yes yes no yes no yes yes yes yes" {
		t.Errorf("PCKV-UE is last: %s", got)
	}
}
