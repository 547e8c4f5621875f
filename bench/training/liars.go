package training

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
)

// liars are runs of examples/mnist in which some clients lie, beside sums of updates in the clear.
type liars struct {
	federations
	attacks    []string
	shares     []float64
	mechanisms []string
	clear      int // clients of the sums in the clear; 0: none
	checked    bool
	public     bool // means are compared with public pictures
	own        []experiment.Own
}

func liarsExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:   "liars",
		Title:  "Test accuracy of examples/mnist, over gRPC, against the share of clients that lie",
		Source: "Cheu, Smith and Ullman, Manipulation Attacks in Local Differential Privacy, 2021; Cao, Jia and Gong, Data Poisoning Attacks to Local Differential Privacy Protocols, 2021",
		Bind: func(flags *flag.FlagSet) experiment.Run {
			settings := flags.String("settings", "shuffler:6000@1,nobody:6000@4", "comma-separated `list` of TRUST:CLIENTS@BUDGET; each client holds one picture; two servers check proofs")
			shares := flags.String("shares", "0,0.001,0.005,0.01,0.05,0.1", "comma-separated `list` of shares of the clients that lie")
			attacks := flags.String("attacks", parties.BiasAttack+","+parties.ReverseAttack, "comma-separated `list` of what they do, as in examples/mnist --attack")
			which := flags.String("mechanisms", mechanisms.Auto+",coco", "comma-separated `list` of mechanisms; auto is the planned one")
			kind := flags.String("features", dataset.DemoFeatures, "what the model sees of a picture, among "+strings.Join(dataset.FeatureNames(), ","))
			clear := flags.Int("clear", 600, "clients of sums in the clear, by the mean, the median, the trimmed mean and Krum; 0: none")
			checked := flags.Bool("check-steps", false, "take no step that makes the model worse on public pictures, as in examples/mnist --check-steps")
			public := flags.Bool("public-alarm", false, "compare means with public pictures, as in examples/mnist --public-alarm, which needs --mechanisms coco or collision")
			with := experiment.BindWith(flags)
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				l := liars{
					federations: federations{data: env.Data, repeats: env.RepeatsOr(3), quick: env.Quick},
					attacks:     strings.Split(*attacks, ","), mechanisms: strings.Split(*which, ","), clear: *clear, checked: *checked, public: *public,
				}
				var err error
				if l.features, err = parseFeatures(*kind); err == nil {
					l.settings, err = parseSettings(*settings, 0)
				}
				if err == nil {
					l.shares, err = parseShares(*shares)
				}
				if env.Quick {
					l.repeats, l.shares = env.RepeatsOr(1), l.shares[:min(2, len(l.shares))]
				}
				if err == nil {
					l.own, err = with()
				}
				if err == nil {
					err = cmp.Or(l.check(), l.checkOwn())
				}
				if err != nil {
					return nil, err
				}
				return l.run(ctx, env)
			}
		},
	}
}

// parseShares reads shares between commas.
func parseShares(list string) (out []float64, err error) {
	for text := range strings.SplitSeq(list, ",") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return nil, fl.Invalid("--shares", text, "must be numbers in [0, 1], such as 0,0.01")
		}
		out = append(out, f)
	}
	return out, nil
}

func (l liars) check() error {
	for _, s := range l.settings {
		if !slices.Contains(ofClients, s.trust) {
			return fl.Invalid("--settings", s.String(), "must have a trust among %v: a liar among sites, or beside noise of clients, moves the mean at will", ofClients)
		}
	}
	for _, a := range l.attacks {
		if !slices.Contains(parties.Attacks(), a) {
			return fl.Invalid("--attacks", a, "must be among %s", strings.Join(parties.Attacks(), ", "))
		}
	}
	if l.clear != 0 && (l.clear < 10 || l.clear > 5000) {
		return fl.Invalid("--clear", l.clear, "must be in [10, 5000], or 0")
	}
	return nil
}

// lied is a setting with liars, repeated.
type lied struct {
	federated
	mechanism, attack string
	share             float64
}

// cells are all settings with all shares. Without liars the attacks are one.
func (l liars) cells() (out []*lied) {
	for _, at := range l.settings {
		which := l.mechanisms
		if at.trust == plan.TwoServers {
			which = []string{mechanisms.Auto}
		}
		for _, mechanism := range which {
			out = append(out, l.cellsOf(at, mechanism)...)
		}
	}
	return out
}

func (l liars) run(ctx context.Context, env experiment.Env) (_ *experiment.Result, err error) {
	dir, err := os.MkdirTemp("", "hushgrad-liars-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cells := l.cells()
	pictures, err := l.build(ctx, env, dir, len(cells)*l.repeats)
	if err != nil {
		return nil, err
	}
	env.Progress.Describe("liars")
	data := filepath.Join(dir, "data")
	for _, c := range cells {
		for k := range l.repeats {
			if err := deal(data, pictures, c.clients, experiment.Stream(env.Seed, 97, uint64(k), uint64(c.clients))); err != nil {
				return nil, err
			}
			more := []string{"--liars", strconv.FormatFloat(c.share, 'g', -1, 64), "--attack", c.attack}
			if c.trust == plan.TwoServers {
				more = append(more, "--proof", hdsum.ProofPrio3)
			}
			if l.checked {
				more = append(more, "--check-steps")
			}
			if l.public {
				more = append(more, "--public-alarm")
			}
			l.mechanism = c.mechanism
			one, err := l.once(ctx, dir, data, c.features, c.situation, more...)
			if err != nil {
				return nil, fmt.Errorf("%v with a share of %g: %w", c.situation, c.share, err)
			}
			c.runs = append(c.runs, one)
			env.Progress.Step()
		}
	}
	own, err := l.withOwn(ctx, env, pictures)
	if err != nil {
		return nil, err
	}
	cells = append(cells, own...)
	sums, err := l.inTheClear(ctx, env, pictures)
	if err != nil {
		return nil, err
	}
	return l.report(cells, sums), nil
}

func (l liars) report(cells []*lied, sums []*clearRun) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"trust", "clients", "budget", "mechanism", "attack", "share", "accuracy", "low", "high", "repeats", "rounds", "alarms", "steps_checked", "steps_refused", "compared", "public_alarms", "first_public_alarm", "noticed", "backdoor"},
		Notes: []string{
			"Every run but those in the clear is a process of its own over gRPC, with fresh randomness, so a repetition gives other numbers. The same clients lie in all rounds. low and high are Student's 95 % interval of the mean over the repeats.",
			"bias: all liars send one valid report, the best of 5000 tries for coco and for dense mechanisms, each liar the best one with the seed of its token where a shuffler has rounds with tokens, and to two servers the longest vector that has a proof, which raises the bias of class 0. reverse: each liar reports its own gradient with the opposite sign, as long as the clip allows. labels: each liar reports the gradient of the next class.",
			"alarms are rounds in which more reports agree at a coordinate than honest clients send, on average over the repeats. Steps leave such coordinates out. privunit and two servers have no such test. steps_refused are rounds whose step made the model worse on public pictures, where steps are checked.",
			"backdoor: all liars send one valid report for the weights of class 0 that meet what a mark, a square in a corner, adds to the features of a picture. Its column is the share of marked test pictures of the other classes that the model takes for class 0, on average over the repeats.",
			"public_alarms are rounds in which more reports agree at a coordinate than public pictures lead to, where means are compared with them, on average over the repeats. Steps leave these coordinates out. noticed is the number of repeats with such an alarm, and first_public_alarm the last of their first rounds with one. The alarm assumes that honest clients hold pictures like the public ones, and may be false otherwise: shares of 0 show it.",
			"Tokens cannot be shared: a round with an issuer counts one report for a token, however many clients send it. TestOneAttackerWithOneTokenCountsOnce of package server shows it.",
			"Mechanisms of --with train in this process, from the plan of coco, or of privunit for those that do not count entries. They have no alarm.",
			"trust none is a server that sees all updates, without privacy. mean, median, trimmed-mean (a fifth on each side) and krum (multi-Krum of Blanchard et al. 2017, which knows the share) add them up. Its liars send a vector 100 times as long as the mean gradient.",
		},
		Plot: l.figure(cells), Quick: l.quick,
	}
	for _, c := range cells {
		a, alarms, refused, public, first, noticed := c.accuracy(), 0., 0., 0., 0, 0
		var backdoor *float64
		for _, run := range c.runs {
			alarms += float64(run.Alarms) / float64(len(c.runs))
			refused += float64(run.Refused) / float64(len(c.runs))
			public += float64(run.Public) / float64(len(c.runs))
			if first = max(first, run.First); run.First > 0 {
				noticed++
			}
			if run.Backdoor != nil {
				if backdoor == nil {
					backdoor = new(float64)
				}
				*backdoor += *run.Backdoor / float64(len(c.runs))
			}
		}
		r.Rows = append(r.Rows, experiment.Row{string(c.trust), c.clients, c.budget, c.runs[0].Mechanism, c.attack, c.share, a.Value, a.Low, a.High, len(c.runs), c.runs[0].Rounds, alarms, l.checked, refused, l.public, public, first, noticed, orNil(backdoor)})
	}
	for _, s := range sums {
		r.Rows = append(r.Rows, experiment.Row{"none", l.clear, 0, s.rule, s.attack, s.share, s.accuracy, s.accuracy, s.accuracy, 1, clearRounds, nil, false, nil, false, nil, nil, nil, nil})
	}
	r.Verdicts = append(l.aims(cells), l.notices(cells)...)
	return r
}

// aims compares losses with what they should be at most.
func (l liars) aims(cells []*lied) (out []experiment.Verdict) {
	for _, aim := range []struct {
		share, loss float64
		proved      bool
		claim       string
	}{
		{0.01, 0.02, false, "1 % of the clients lie, and no proof is needed: the planned mechanism loses at most 2 points"},
		{0.05, 0.01, true, "5 % of the clients lie, and two servers check proofs: at most 1 point is lost"},
	} {
		for _, c := range cells {
			if c.share != aim.share || c.mechanism != mechanisms.Auto || (c.trust == plan.TwoServers) != aim.proved {
				continue
			}
			i := slices.IndexFunc(cells, func(o *lied) bool { return o.situation == c.situation && o.mechanism == c.mechanism && o.share == 0 })
			if i < 0 {
				continue
			}
			loss := cells[i].accuracy().Value - c.accuracy().Value
			out = append(out, experiment.Verdict{
				Claim: fmt.Sprintf("%s: %v, %s", aim.claim, c.situation, c.attack), Holds: loss <= aim.loss, Ours: fmt.Sprintf("%.4f", loss),
			})
		}
	}
	return out
}

// notices says where the alarm by public pictures is raised: in all runs with half a per cent of liars and more who agree on a bias, and in none without liars.
func (l liars) notices(cells []*lied) (out []experiment.Verdict) {
	if !l.public {
		return nil
	}
	for _, c := range cells {
		v := experiment.Verdict{Claim: fmt.Sprintf("honest clients raise no alarm by public pictures: %v, %s", c.situation, c.mechanism)}
		switch {
		case c.share == 0:
		case c.share >= 0.005 && c.attack == parties.BiasAttack:
			v.Claim = fmt.Sprintf("%g %% of liars raise the alarm by public pictures: %v, %s", 100*c.share, c.situation, c.mechanism)
		default:
			continue
		}
		alarmed := 0
		for _, run := range c.runs {
			if run.Public > 0 {
				alarmed++
			}
		}
		v.Holds, v.Ours = alarmed == len(c.runs), fmt.Sprintf("in %d of %d runs", alarmed, len(c.runs))
		if c.share == 0 {
			v.Holds = alarmed == 0
		}
		out = append(out, v)
	}
	return out
}

// figure draws accuracy against the share of liars.
func (l liars) figure(cells []*lied) *figure.Figure {
	panel := figure.Panel{XLabel: "share of clients that lie", YLabel: "test accuracy", YRange: [2]float64{0, 1}}
	lines := map[string]int{}
	for _, c := range cells {
		name := fmt.Sprintf("%s, %v, %s", c.runs[0].Mechanism, c.situation, c.attack)
		if l.checked {
			name += ", steps checked"
		}
		if l.public {
			name += ", compared with public pictures"
		}
		at, ok := lines[name]
		if !ok {
			at = len(panel.Series)
			lines[name], panel.Series = at, append(panel.Series, figure.Series{Name: name, Style: figure.LinePoints})
		}
		a := c.accuracy()
		panel.Series[at].Add(c.share, a.Value, max(a.Low, 0), min(a.High, 1)) // few repeats have intervals beyond what can be
	}
	return &figure.Figure{Panels: []figure.Panel{panel}, ErrorBars: experiment.ErrorBars}
}
