package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func expanded(t *testing.T, columns, expand string) schema {
	t.Helper()
	s := someSchema(t, columns, "y=0..1")
	var err error
	if s.expand, err = parseExpansion(expand, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestProductsAreOfDifferentColumns(t *testing.T) {
	s := expanded(t, "a=0..1,s=x|y,b=0..1", "products")
	names := s.expand.names(s.names())
	if want := []string{"a × a", "a × s=x", "a × s=y", "a × b", "s=x × b", "s=y × b", "b × b"}; !slices.Equal(names, want) || s.features() != 11 {
		t.Fatalf("products %q of %d features, want %q of 11", names, s.features(), want)
	}
	// Three columns, and five products of columns and squares.
	got := s.expand.of(rows{[][]float64{{2, 0, 1, -3}}, []float64{7}})
	f := math.Sqrt(3. / 5)
	want := []float64{2, 0, 1, -3, f * 3 / math.Sqrt2, 0, f * 2, f * -3, 0, f * -3, f * 3}
	if !floats.EqualApprox(got.x[0], want, 1e-12) || got.y[0] != 7 {
		t.Errorf("%v, want %v", got, want)
	}
}

// A random feature is what its line of the file says, the seed is the flag's, and the flag's alone.
func TestRandomFeaturesAreWritten(t *testing.T) {
	s := expanded(t, "a=0..1,s=x|y", "fourier:3:9")
	row := []float64{1.5, 0, 1}
	got := s.expand.of(rows{[][]float64{row}, []float64{0}}).x[0]
	var text strings.Builder
	if err := s.expand.writeFourier(&text, s.names()); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil || len(records) != 4 || !slices.Equal(records[0], []string{"feature", "scale", "b", "a", "s=x", "s=y"}) {
		t.Fatalf("%v, %v", records, err)
	}
	for k, record := range records[1:] {
		var v []float64
		for _, cell := range record[1:] {
			x, err := number(cell)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, x)
		}
		if want := v[0] * math.Sqrt2 * math.Cos(v[1]+floats.Dot(v[2:], row)); math.Abs(got[3+k]-want) > 1e-12 || v[0] != math.Sqrt(2./3) {
			t.Errorf("feature %d is %g, want %g", k, got[3+k], want)
		}
	}
	of := func(expand string) float64 {
		return expanded(t, "a=0..1,s=x|y", expand).expand.frequencies[0][0]
	}
	if of("fourier:3:9") != of("fourier:5:9") || of("fourier:3") != of("fourier:3:1") || of("fourier:3") == of("fourier:3:9") {
		t.Error("the seed of the flag does not decide")
	}
}

// Steps and clips rely on it: the mean of a row's sum of squares is about what the schema says, on normal numbers. The mean of 4000 rows has a standard error
// of a few per cent; the rows are seeded.
func TestExpandedRowsHaveTheSquaresThatStepsCountOn(t *testing.T) {
	for _, expand := range []string{"products", "fourier:40"} {
		s := expanded(t, "a=0..1,b=0..1,s=x|y,c=0..1,r=x|y|z", expand)
		rng := rand.New(rand.NewPCG(1, 2))
		var r rows
		for range 4000 {
			x := []float64{rng.NormFloat64(), rng.NormFloat64(), 0, 0, rng.NormFloat64(), 0, 0, 0}
			x[2+rng.IntN(2)], x[5+rng.IntN(3)] = 1, 1
			r.add(x, 0)
		}
		mean := 1. // of the bias
		for _, x := range s.expand.of(r).x {
			mean += floats.Dot(x, x) / 4000
			for _, v := range x[8:] {
				if math.Abs(v) > mostSpreads*s.expand.scale {
					t.Fatalf("%s: a feature of %g", expand, v)
				}
			}
		}
		if want := s.squares(); want != 11 || math.Abs(mean-want) > 0.1*want {
			t.Errorf("%s: mean sum of squares %.2f, and steps count on %g, which must be 11", expand, mean, want)
		}
	}
}

func TestWrongExpansionsAreRefused(t *testing.T) {
	for _, c := range []struct{ columns, expand, want string }{
		{"a=0..1", "product", `got "product", rule: must be products, fourier:K for K random features, or fourier:K:SEED`},
		{"a=0..1", "products:2", "must be products"},
		{"a=0..1", "fourier", "must be products"},
		{"a=0..1", "fourier:", "must have from 1 to 1999 random features"},
		{"a=0..1", "fourier:0", "must have from 1 to 1999 random features"},
		{"a=0..1", "fourier:2000", "with the 1 values of a row they are at most 2000. Type fourier:100"},
		{"a=0..1", "fourier:5:-1", "must end with a seed from 0 to 2^64−1: type fourier:5:1"},
		{"s=x|y", "products", "must have two columns to multiply, or a number to square"},
		{"s=#1000,a=0..1,b=0..1", "products", "must lead to at most 2000 features, and the products of 1002 values are more: name fewer columns or values, or type fourier:100"},
	} {
		if _, err := parseExpansion(c.expand, someSchema(t, c.columns, "y=0..1")); err == nil || !strings.Contains(err.Error(), "--expand") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.expand, err, c.want)
		}
	}
}

// The odds of the target are a product and a square of columns, and little else. A linear model learns little of it, and a linear model of
// expanded rows much, without privacy and at a central ε of 1. Rows and noise are seeded, so the scores repeat. 2000 rows for testing have a standard error of
// at most 0.011 each, so a difference of two scores has one of at most 0.016, and 0.07 is more than four of them.
func TestExpansionsLearnWhatIsNotLinear(t *testing.T) {
	const gain = 0.07
	rng := rand.New(rand.NewPCG(3, 4))
	var table strings.Builder
	table.WriteString("a,b,c,d,y\n")
	for range 10_000 {
		var v [4]float64
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		y := "no"
		if rng.Float64() < 1/(1+math.Exp(-3*v[0]*v[1]-1.5*(v[2]*v[2]-1)-v[3])) {
			y = "yes"
		}
		fmt.Fprintf(&table, "%.3f,%.3f,%.3f,%.3f,%s\n", v[0], v[1], v[2], v[3], y)
	}
	data := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(data, []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, private := range map[string][]string{
		"without privacy": {"--mechanism", "none", "--rounds", "60"},
		"central ε = 1":   {"--trust", "shuffler", "--budget", "1", "--mechanism", "coco", "--rounds", "24", "--clients", "6000"},
	} {
		scores := map[string]float64{}
		for _, expand := range []string{"", "products", "fourier:50"} {
			args := append([]string{"--data", data, "--columns", "a=-5..5~0±1,b=-5..5~0±1,c=-5..5~0±1,d=-5..5~0±1", "--target", "y=no|yes", "--seed", "5", "--expand", expand}, private...)
			printed, score := scoreOf(t, args...)
			if strings.Contains(printed, "expanded ") != (expand != "") {
				t.Errorf("%s: the run says\n%s", expand, printed)
			}
			scores[expand] = score
		}
		t.Logf("%s: accuracy %v", name, scores)
		if plain := scores[""]; scores["products"] < plain+gain || scores["fourier:50"] < plain+gain {
			t.Errorf("%s: accuracy %v", name, scores)
		}
	}
}
