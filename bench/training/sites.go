package training

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	flag "github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/plan"
)

// sites are runs of a few sites that hold many records each. A budget protects one record.
type sites struct {
	sweep
	sites   int
	records int // of all sites together, at most; 0: all training pictures
	hidden  int // units of the network; 0: softmax regression
	methods []string
}

func sitesExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:   "sites",
		Title:  "Test accuracy of a few sites with many records each, one record protected: own noise, two servers, reports of records, a trusted server, each site alone",
		Source: "The mechanisms gaussian-site and gaussian-shares with records, planned reports of records, and the Gaussian mechanism of a trusted party, on the same gradients with the same accounting",
		Bind: func(flags *flag.FlagSet) experiment.Run {
			s := sites{sweep: sweep{server: server{momentum: -1, averaging: -1}}}
			flags.IntVar(&s.sites, "sites", 12, "sites, who share the training pictures: a picture is a record")
			flags.IntVar(&s.records, "records", 0, "training pictures of all sites together, the first ones; 0: all there are")
			flags.IntVar(&s.hidden, "hidden", 0, "hidden units of a network with one hidden layer; 0: softmax regression")
			flags.IntVar(&s.rounds, "rounds", 30, "rounds of training, each with all records")
			flags.Float64Var(&s.delta, "delta", 1e-6, "δ at which the ε of all rounds is stated")
			methods := flags.String("methods", strings.Join(siteMethods, ","), "comma-separated `list` of methods")
			kinds := flags.String("features", dataset.Edges, "comma-separated `list` of what the model sees of a picture, among "+strings.Join(dataset.FeatureNames(), ","))
			budgets := flags.String("budget", "1,2,8", "comma-separated `list` of ε of all rounds together")
			return func(ctx context.Context, env experiment.Env) (_ *experiment.Result, err error) {
				s := s
				s.methods = strings.Split(*methods, ",")
				if s.features, err = parseFeatures(*kinds); err != nil {
					return nil, err
				}
				if s.centrals, err = parseEpsilons("--budget", *budgets); err != nil {
					return nil, err
				}
				return s.run(ctx, env)
			}
		},
	}
}

// Names of what is compared, beside the mechanisms.
const (
	aloneName    = "alone"
	lifetimeName = "lifetime-reports"
	shuffledName = "shuffled-reports"
)

// siteMethods are all methods.
var siteMethods = []string{baseline.None, lifetimeName, shuffledName, hdsum.SiteName, hdsum.SharesName, honestName, trustedName, aloneName}

// siteRun is one row: a method at a budget.
type siteRun struct {
	method, holds string
	budget        float64 // 0: none
	task          *task
	course        course
	outcomes      []outcome
	seconds       float64
}

func (s sites) run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	switch {
	case s.records != 0 && (s.records < 4 || s.records > dataset.Pictures):
		return nil, fl.Invalid("--records", s.records, "must be in [4, %d], two for each of two sites at least, or 0 for all training pictures", dataset.Pictures)
	case slices.ContainsFunc(s.methods, func(m string) bool { return !slices.Contains(siteMethods, m) }):
		return nil, fl.Invalid("--methods", strings.Join(s.methods, ","), "must be names between commas, among %s", strings.Join(siteMethods, ","))
	case s.hidden < 0 || s.hidden > mostHidden:
		return nil, fl.Invalid("--hidden", s.hidden, "must be in [1, %d], or 0 for softmax regression", mostHidden)
	}
	options := dataset.Options{Source: env.Data, Seed: env.Seed, TrainSize: s.records}
	s.repeats = env.RepeatsOr(3)
	if env.Quick {
		options.TrainSize, options.TestSize, s.rounds, s.repeats = cmp.Or(s.records, 2400), 500, min(s.rounds, 3), env.RepeatsOr(1)
	}
	data, err := dataset.Load(ctx, options)
	if err != nil {
		return nil, err
	}
	switch {
	case s.sites < 2 || s.sites > data.Train.Len()/2:
		return nil, fl.Invalid("--sites", s.sites, "must be in [2, %d], half the number of training pictures", data.Train.Len()/2)
	case s.rounds < 1:
		return nil, fl.Invalid("--rounds", s.rounds, "must be at least 1")
	case !(s.delta > 0 && s.delta < 1):
		return nil, fl.Invalid("--delta", s.delta, "must be in (0, 1)")
	}
	var all []*siteRun
	for _, name := range s.features {
		runs, err := s.plan(ctx, env, data, name)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if len(s.methods) == 0 || slices.Contains(s.methods, r.method) {
				all = append(all, r)
			}
		}
	}
	env.Progress.Describe("accuracy")
	env.Progress.Grow(len(all) * s.repeats)
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for _, r := range all {
		group.Go(func() error { return s.measure(inner, env, r) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return s.report(all, data), nil
}

// plan returns the runs on one kind of features.
func (s sites) plan(ctx context.Context, env experiment.Env, data *dataset.Data, name string) (runs []*siteRun, err error) {
	t, err := newTask(ctx, env, data, name)
	if err != nil {
		return nil, err
	}
	t.clients = t.train.Len() / s.sites * s.sites // records, the same number at each site
	var training plan.Training
	if s.hidden > 0 {
		training, s.server.most, err = s.network(ctx, env.Seed, t)
	} else {
		training, err = s.demands(ctx, t)
	}
	if err != nil {
		return nil, err
	}
	own := *t
	part := *t.train
	own.clients = t.clients / s.sites
	part.Images, part.Labels = part.Images[:own.clients*part.Dim()], part.Labels[:own.clients]
	own.train = &part
	at := func(budget float64) setting {
		return setting{Training: training, epsilon: budget, pictureL2: t.pictureL2, model: t.model, server: s.server}
	}
	free, err := contender{name: baseline.None, role: reference}.course(ctx, at(0))
	if err != nil {
		return nil, err
	}
	runs = []*siteRun{{method: baseline.None, holds: "nobody", task: t, course: free}}
	env.Progress.Describe("planning")
	env.Progress.Grow(len(s.centrals))
	for _, budget := range s.centrals {
		for _, trust := range []plan.Trust{plan.Nobody, plan.Shuffler} {
			c, err := s.reports(ctx, at(budget), trust)
			if err != nil {
				return nil, fmt.Errorf("reports with the trust %s at ε = %g: %w", trust, budget, err)
			}
			method, holds := lifetimeName, "everybody outside the site"
			if trust == plan.Shuffler {
				method, holds = shuffledName, "everybody but the shuffler"
			}
			runs = append(runs, &siteRun{method: method, holds: holds, budget: budget, task: t, course: c})
		}
		for _, mechanism := range []string{hdsum.SiteName, hdsum.SharesName, honestName} {
			c, err := s.course(ctx, at(budget), mechanism)
			if err != nil {
				return nil, fmt.Errorf("%s at ε = %g: %w", mechanism, budget, err)
			}
			holds := "everybody outside the site"
			switch mechanism {
			case hdsum.SharesName:
				holds = "either of two servers"
			case honestName:
				holds = "either of two servers, if nine sites of ten are honest"
			}
			runs = append(runs, &siteRun{method: mechanism, holds: holds, budget: budget, task: t, course: c})
		}
		server, err := contender{}.trusted(at(budget))
		if err != nil {
			return nil, err
		}
		single := at(budget)
		single.Clients = own.clients
		alone, err := contender{}.trusted(single)
		if err != nil {
			return nil, err
		}
		runs = append(runs,
			&siteRun{method: trustedName, holds: "everybody but the server", budget: budget, task: t, course: server},
			&siteRun{method: aloneName, holds: "everybody outside the site", budget: budget, task: &own, course: alone})
		env.Progress.Step()
	}
	return runs, nil
}

// measure fills the outcomes of a run. Repeats differ in the order of the records and in all noise.
func (s sites) measure(ctx context.Context, env experiment.Env, r *siteRun) error {
	r.outcomes = make([]outcome, s.repeats)
	name := uint64(crc32.ChecksumIEEE([]byte(r.method)))
	for k := range s.repeats {
		key := fmt.Sprintf("%s %s %g %d", r.task.features, r.method, r.budget, k)
		out, seconds, err := r.task.timed(ctx, env, key, r.course.recipe, experiment.Stream(env.Seed, 96, name, math.Float64bits(r.budget), uint64(k)))
		if err != nil {
			return err
		}
		r.outcomes[k] = out
		r.seconds += seconds / float64(s.repeats)
		env.Progress.Step()
	}
	return nil
}

// accuracy returns the mean over the repeats, with its interval.
func (r *siteRun) accuracy() experiment.Interval {
	var values []float64
	for _, o := range r.outcomes {
		values = append(values, o.accuracy)
	}
	return experiment.MeanInterval(values)
}

func (s sites) report(all []*siteRun, data *dataset.Data) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{
			"method", "features", "holds_against", "budget", "epsilon_round", "accuracy", "low", "high", "repeats", "sites", "records", "dim", "rounds", "clip", "noise", "learning_rate", "bytes_per_report", "seconds",
		},
		Notes: []string{
			data.Note,
			"Every record is a picture. Its gradient is clipped by itself, to the norm in the column clip. It takes part in every round, but for reports. budget is the ε of all rounds together at δ, for one record that is replaced. epsilon_round is the (ε, δ) of a round, of which the rounds compose as Gaussian noise.",
			"gaussian-site: each site adds the whole noise to its own sum. gaussian-shares: each of two servers adds the whole noise to the sum of all sites. gaussian-shares-honest: sites add a part of the noise, so that the budget holds if nine of ten are honest, and twice the budget without them. central: a trusted server adds it to the sum of all sites, once. alone: one site trains by itself with its own records and the same noise. none: no privacy.",
			"shuffled-reports and lifetime-reports: a site sends a randomized report for each record, by the mechanism that the planner takes. All rounds' reports of a record together cost it the budget: behind a shuffler at δ, and without one at δ = 0, where a record sends one report in its life. epsilon_round is then the local ε of a report, and bytes_per_report the bytes of one record's report.",
			"The learning rate follows from the standard error of a coordinate in the first round, noise, in units of the gradient. low and high are Student's 95 % interval of the mean over the repeats. seconds are the seconds of one run on one core.",
		},
	}
	if s.hidden > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("The model is a network with %d hidden units. All runs begin at the same random weights. The clip is the mean norm of gradients of generated digits at these weights.", s.hidden))
	}
	for _, x := range all {
		a, one := x.accuracy(), x.outcomes[0]
		var epsilon any
		if x.course.round.Mechanism != "" && x.budget > 0 {
			epsilon = x.course.round.Epsilon
		}
		r.Rows = append(r.Rows, experiment.Row{
			x.method, x.task.features, x.holds, x.budget, epsilon, a.Value, a.Low, a.High, len(x.outcomes), s.sites, x.task.clients, x.task.model.Dim(), x.course.rounds, x.course.scale, one.noise, one.rate, one.bytes, x.seconds,
		})
	}
	r.Verdicts = s.close(all)
	return r
}

// close says whether two servers come as close to a trusted server as their noise allows, without honest sites and with them.
func (s sites) close(all []*siteRun) (out []experiment.Verdict) {
	for _, two := range all {
		i := slices.IndexFunc(all, func(x *siteRun) bool {
			return x.method == trustedName && x.budget == two.budget && x.task.features == two.task.features
		})
		if two.method != hdsum.SharesName && two.method != honestName || i < 0 {
			continue
		}
		gap := all[i].accuracy().Value - two.accuracy().Value
		out = append(out, experiment.Verdict{
			Claim: fmt.Sprintf("%s is within .005 of a trusted server: %s, ε = %g, %d sites", two.method, two.task.features, two.budget, s.sites),
			Holds: gap <= 0.005, Detail: fmt.Sprintf("%.4f below", gap),
		})
	}
	return out
}
