package fltest_test

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	_ "github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

// variants are what is asked of each mechanism of this module, beside its parameters left
// open.
func variants() map[string][]func(r *fl.Round) {
	with := func(name string, v fl.Value) func(r *fl.Round) {
		return func(r *fl.Round) { r.Params = r.Params.With(name, v) }
	}
	columns := func(names ...string) func(r *fl.Round) { return func(r *fl.Round) { r.Columns = names } }
	all := columns(fl.ColumnMinus, fl.ColumnConditional, fl.ColumnPlus, fl.ColumnFrequency)
	pairs := columns(fl.ColumnConditional, fl.ColumnFrequency)
	open := func(*fl.Round) {}
	both := func(a, b func(r *fl.Round)) func(r *fl.Round) { return func(r *fl.Round) { a(r); b(r) } }
	sparsity := with("sparsity", fl.Int(3))
	ideal := both(sparsity, with("hash", fl.Text("ideal")))
	menu := func(base string) func(r *fl.Round) {
		return both(with("menu", fl.Text("1,4")), with("base", fl.Text(base)))
	}
	local := []func(r *fl.Round){open, func(r *fl.Round) { r.Epsilon, r.Scale = 0.5, 1e-3 }, func(r *fl.Round) { r.Dim = 1 }}
	shuffled := func(r *fl.Round) { r.Delta, r.MinReports = 1e-6, 60 }
	levels := both(shuffled, func(r *fl.Round) { // many sub-domains: the slowest
		r.Dim, r.MinReports = 4, 20
		with("levels", fl.Int(2))(r)
	})
	return map[string][]func(r *fl.Round){
		"auto":       {sparsity, both(sparsity, all)},
		"coco":       {sparsity, ideal, both(sparsity, all), both(sparsity, pairs), both(ideal, all)},
		"collision":  {sparsity, ideal, both(sparsity, all), both(sparsity, pairs), both(ideal, all)},
		"signsketch": {sparsity},
		"sumdp": {
			shuffled, both(shuffled, with("base", fl.Text("bbgn"))), both(shuffled, with("base", fl.Text("gkmps"))),
			both(shuffled, func(r *fl.Round) { r.Relation = fl.ZeroOut }), levels,
			both(levels, with("select", fl.Text("threshold"))),
		},
		"gaussian-shares": {
			shuffled, both(shuffled, func(r *fl.Round) { r.Relation, r.Dim = fl.ZeroOut, 1 }),
		},
		"gaussian-site": {func(r *fl.Round) { r.Delta = 1e-6 }, func(r *fl.Round) { r.Delta, r.Scale, r.Dim = 1e-3, 30, 1 }},
		"pckv-ue":       append(local, pairs, with("padding", fl.Int(3))),
		"pckv-grr":      append(local, pairs, with("padding", fl.Int(3))),
		"pckv-agrr":     append(local, pairs, with("padding", fl.Int(3))),
		"none":          {func(r *fl.Round) { r.Epsilon = math.Inf(1) }},
		"gaussian":      {func(r *fl.Round) { r.Delta = 1e-5 }, func(r *fl.Round) { r.Delta, r.Scale = 1e-3, 30 }},
		"laplace":       local,
		"privunit":      append(local, both(with("candidates", fl.Int(300)), with("likely", fl.Int(299)))),
		"tiers":         {both(menu("coco"), sparsity), both(both(menu("coco"), sparsity), with("radius", fl.Real(0.5))), both(menu("pckv-grr"), with("padding", fl.Int(3))), menu("laplace")},
	}
}

var long = flag.Bool("long", false, "check every mechanism with all kinds of parameters, and not with two or, where its package does that, none")

// Every mechanism of this module keeps the contract. False-positive rate of the part "unbiased": 50 rounds at two ε with
// 21 statistics each, at 8 standard errors of 39 degrees of freedom, 2e-6.
func TestOurMechanismsKeepTheContract(t *testing.T) {
	rounds := variants()
	for _, name := range fl.Mechanisms() {
		if _, ok := rounds[name]; !ok && !slices.Contains([]string{"toy", "faulty"}, name) && !strings.HasPrefix(name, "plain-") && !strings.HasPrefix(name, "countdown-") {
			t.Errorf("%q is registered and not checked", name)
		}
	}
	for name, changes := range rounds {
		if !*long {
			changes = changes[:min(2, len(changes))]
			if name == "sumdp" || name == "laplace" || name == "gaussian" {
				changes = changes[1:1] // TestContract of hdsum and of baseline checks one
			}
		}
		for i, change := range changes {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				t.Parallel()
				r := fl.Round{ID: "r", Mechanism: name, Dim: 20, Scale: 0.5, Epsilon: 4, MinReports: 30, PublicSeed: [32]byte{2}}
				change(&r)
				r, _, err := fl.Complete(r)
				if err != nil {
					t.Fatal(err)
				}
				choose, _ := r.Params.Text("select")
				if err := fltest.Mechanism(r, fltest.Options{Biased: choose == "threshold"}); err != nil { // drops small sums
					t.Errorf("%+v: %v", r, err)
				}
			})
		}
	}
}

// The sparse mechanisms are as accurate as their exact formulas say. The clients' gradients
// are ternary already: three coordinates of ±Scale. False-positive rate: 9 rounds with 23
// statistics each at 8 standard errors of 39 degrees of freedom, 2e-7. A standard error is
// an average client's, holds for every coordinate, and counts three hits more than
// there are some sixty of. So its square may be off by a tenth.
func TestSparseMechanismsAreAsAccurateAsTheirFormulas(t *testing.T) {
	const dim, sparsity, scale = 20, 3, 0.5
	gradients := make([][]float64, 4)
	truth := make([]float64, dim)
	for i := range gradients {
		gradients[i] = make([]float64, dim)
		for j := range sparsity {
			v := scale * float64(1-2*(j%2))
			gradients[i][2*i+j] = v
			truth[2*i+j] += v / float64(len(gradients))
		}
	}
	for _, scheme := range []*sparse.Scheme{coco.Scheme, collision.Scheme, signsketch.Scheme} {
		for _, epsilon := range []float64{0.5, 2, 6} {
			if epsilon == 2 && !*long {
				continue
			}
			t.Run(fmt.Sprintf("%s/%g", scheme.Name(), epsilon), func(t *testing.T) {
				r, _, err := fl.Complete(fl.Round{
					ID: "r", Mechanism: scheme.Name(), Dim: dim, Scale: scale, Epsilon: epsilon, MinReports: 1,
					PublicSeed: [32]byte{3}, Params: fl.Params{sparse.ParamSparsity: fl.Int(sparsity)},
				})
				if err != nil {
					t.Fatal(err)
				}
				mse, err := scheme.LeastMSE(sparse.Point{Dim: dim, Sparsity: sparsity, Epsilon: epsilon})
				if err != nil {
					t.Fatal(err)
				}
				if err := fltest.Rounds(r, fltest.Accuracy{Gradients: gradients, Truth: truth, MSE: mse * scale * scale, StdErrFactor: 1.1, Reports: 2400, Rounds: 40, Z: 8}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
