package training

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/plan"
)

// Every method trains. The noise of n sites is √n times a trusted server's, and the noise of two servers √2 times, up to the rounding
// of gradients. All rounds keep the budget.
func TestSitesHaveTheNoiseOfTheirMethod(t *testing.T) {
	s := sites{sweep: sweep{server: server{momentum: -1, averaging: -1}, rounds: 3, delta: 1e-6, centrals: []float64{2}, features: []string{dataset.Edges}}, sites: 12}
	r, err := s.run(t.Context(), experiment.Env{Quick: true, Jobs: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil || len(r.Rows) != 8 || len(r.Verdicts) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	noise := map[string]float64{}
	for _, row := range r.Rows {
		noise[row[0].(string)] = row[14].(float64)
		if accuracy := row[5].(float64); !(accuracy > 0.15) {
			t.Errorf("%v", row)
		}
	}
	for method, want := range map[string]float64{"gaussian-site": math.Sqrt(12), "gaussian-shares": math.Sqrt2, honestName: honestFactor(t, r.Rows, 12, 10), "alone": 12} {
		if got := noise[method] / noise["central"]; !(got > 0.99*want && got < 1.03*want) {
			t.Errorf("%s has %.3f times a trusted server's noise, want %.3f", method, got, want)
		}
	}
	if !(noise[lifetimeName] > 2*noise[shuffledName]) {
		t.Errorf("%v: reports without a shuffler have more noise", noise)
	}
	for _, row := range r.Rows[1:3] {
		if local := row[4].(float64); row[0] == lifetimeName && local != 2 || row[0] == shuffledName && !(local > 2) {
			t.Errorf("%v: a record's only report has the whole budget, and a shuffled one more", row)
		}
	}
	for _, row := range r.Rows[3:5] {
		m, err := fl.Open(fl.Round{
			ID: "r", Mechanism: row[0].(string), Dim: row[11].(int), Scale: 1, Epsilon: row[4].(float64), Delta: 1e-6, Relation: fl.ReplaceOne, MinReports: 12, PublicSeed: [32]byte{1},
		})
		if err != nil {
			t.Fatal(err)
		}
		spending, err := plan.NewSpending(m, 12, 12, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := spending.Promise(t.Context(), 3); err != nil || !(*cmp.Or(p.Central, p.LocalTotal) <= 2 && *cmp.Or(p.Central, p.LocalTotal) > 1.9) {
			t.Errorf("%v: 3 rounds cost %v, %v", row[0], p, err)
		}
	}
}

// honestFactor is how many times a trusted server's noise there is where n sites add a part of it, which is for fewer honest ones.
func honestFactor(t *testing.T, rows []experiment.Row, n, honest float64) float64 {
	t.Helper()
	squares := map[string]float64{}
	for _, row := range rows {
		if epsilon, ok := row[4].(float64); ok {
			sigma, err := baseline.GaussianSigma(epsilon, 1e-6, 1)
			if err != nil {
				t.Fatal(err)
			}
			squares[row[0].(string)] = sigma * sigma
		}
	}
	server, whole := squares[honestName], squares[hdsum.SharesName]
	return math.Sqrt((2*server + n/honest*(whole-server)) / whole)
}

// A network has the weights that --hidden says, on the records that --records says. All methods begin at the same weights and
// clip to the same norm. The noise of each is a trusted server's times the method's factor, as without hidden units.
func TestSitesTrainANetwork(t *testing.T) {
	s := sites{
		sweep: sweep{server: server{momentum: -1, averaging: -1}, rounds: 2, delta: 1e-6, centrals: []float64{8}, features: []string{dataset.Grey}},
		sites: 4, records: 1202, hidden: 8,
	}
	r, err := s.run(t.Context(), experiment.Env{Quick: true, Jobs: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil || len(r.Rows) != 8 || !strings.Contains(strings.Join(r.Notes, " "), "8 hidden units") {
		t.Fatalf("%+v, %v", r, err)
	}
	noise := map[string]float64{}
	for _, row := range r.Rows {
		noise[row[0].(string)] = row[14].(float64)
		records := 1200
		if row[0] == aloneName {
			records = 300
		}
		if row[10] != records || row[11] != 14*14*8+8+8*10+10 {
			t.Errorf("%v", row)
		}
		if row[0] != "none" && !strings.HasSuffix(row[0].(string), "reports") && row[13] != r.Rows[5][13] {
			t.Errorf("%v clips to another norm than %v", row, r.Rows[5])
		}
	}
	for method, want := range map[string]float64{"gaussian-site": 2, "gaussian-shares": math.Sqrt2, honestName: honestFactor(t, r.Rows, 4, 3), "alone": 4} {
		if got := noise[method] / noise["central"]; !(got > 0.99*want && got < 1.03*want) {
			t.Errorf("%s has %.3f times a trusted server's noise, want %.3f", method, got, want)
		}
	}
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 40, TestSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := s.plan(t.Context(), experiment.Env{Seed: 1}, data, dataset.Grey)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		if len(run.task.first) != run.task.model.Dim() || !slices.Equal(run.task.first, runs[0].task.first) {
			t.Errorf("%s begins at other weights", run.method)
		}
		if got := run.course.steps(1e-9).LearningRate; !(got > 0 && got <= 2) {
			t.Errorf("%s has the learning rate %g", run.method, got)
		}
	}
}

// A run begins at the task's first model, where there is one. A planned learning rate ends at the limit.
func TestARunBeginsAtTheFirstModel(t *testing.T) {
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 40, TestSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	own, err := newTask(t.Context(), experiment.Env{}, data, dataset.Grey)
	if err != nil {
		t.Fatal(err)
	}
	own.first = slices.Repeat([]float64{0.25}, own.model.Dim())
	began := errors.New("began")
	_, err = own.run(t.Context(), recipe{rounds: 1, open: func(holders, *rand.Rand) (rounds, error) {
		return beginning{t, own.first, began}, nil
	}}, experiment.Stream(1))
	if !errors.Is(err, began) {
		t.Error(err)
	}
	if got := (server{momentum: -1, averaging: -1, most: 2}).over(plan.Steps{LearningRate: 5}); got.LearningRate != 2 {
		t.Errorf("%+v", got)
	}
}

// beginning are rounds that end with an error where the first model is the wanted one.
type beginning struct {
	t    *testing.T
	want []float64
	err  error
}

func (b beginning) Mean(_ context.Context, _ int, params []float64) (*fl.Estimate, error) {
	if !slices.Equal(params, b.want) {
		b.t.Error("the run begins at another model")
	}
	return nil, b.err
}

func (beginning) Bytes() int64 { return 0 }

func (beginning) Close() error { return nil }

// Numbers of records and of hidden units that make no sense are refused by the flag's name.
func TestSitesRefuseSizes(t *testing.T) {
	if _, err := (sites{sites: 2, methods: []string{"none", "magic"}}).run(t.Context(), experiment.Env{Quick: true}); err == nil || !strings.Contains(err.Error(), `--methods: got "none,magic"`) {
		t.Error(err)
	}
	for _, c := range []struct {
		records, hidden int
		want            string
	}{{-1, 0, "--records: got -1"}, {3, 0, "--records: got 3"}, {60001, 0, "--records: got 60001"}, {0, -1, "--hidden: got -1"}, {0, mostHidden + 1, "--hidden: got 4097"}} {
		_, err := sites{sites: 2, records: c.records, hidden: c.hidden}.run(t.Context(), experiment.Env{Quick: true})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
