package demands

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/hetero"
	"github.com/hushgrad/hushgrad/fl"
)

// own is HPM and HPF for clients of the reader's.
func own() experiment.Experiment {
	return experiment.Experiment{
		Name:    "hetero",
		Title:   "A mean or a histogram of clients with different demands: weights, noise, risks and lower bounds for your numbers",
		Source:  paper + ", Algorithms 1 and 2",
		Without: []string{experiment.FlagData, experiment.FlagQuick, experiment.FlagRepeats},
		Bind: func(f *flag.FlagSet) experiment.Run {
			epsilons := f.String("epsilons", "0.1,1,5", "comma-separated `list` of what clients ask for; inf: no privacy")
			shares := f.String("shares", "0.2,0.5,0.3", "comma-separated `list` of the shares of the clients that ask for each")
			clients := f.Int("clients", 1000, "number of clients")
			categories := f.Int("categories", 1, "categories of a histogram, k; 1: a mean of numbers in [0, 1]")
			beta := f.Float64("beta", failure, "probability with which an error may be above the risk, and above the lower bounds")
			values := f.String("values", "", "CSV `file` with the head epsilon,value and a line for each client, in place of --epsilons, --shares and --clients: what is published, too; a value is a number in [0, 1] or a category from 0 on")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				q := ownQuestion{categories: *categories, beta: *beta}
				if err := q.read(*values, *epsilons, *shares, *clients); err != nil {
					return nil, err
				}
				return q.answer(ctx, env)
			}
		},
	}
}

// ownQuestion is clients with demands, and perhaps their values.
type ownQuestion struct {
	eps        []float64
	values     []float64 // nil: not known
	categories int
	beta       float64
}

const mostOwnClients = 1_000_000

func (q *ownQuestion) read(file, epsilons, shares string, clients int) error {
	switch {
	case clients < 1 || clients > mostOwnClients:
		return fl.Invalid("--clients", clients, "must be in [1, %d]", mostOwnClients)
	case q.categories < 1 || q.categories > fl.MaxDim:
		return fl.Invalid("--categories", q.categories, "must be in [1, %d]", fl.MaxDim)
	case !(q.beta > 0 && q.beta < 0.5):
		return fl.Invalid("--beta", q.beta, "must be in (0, 0.5)")
	case file != "":
		return q.readFile(file)
	}
	asked, err := numbers("--epsilons", epsilons, func(x float64) bool {
		return x >= hetero.MinEpsilon && x <= hetero.MaxEpsilon || math.IsInf(x, 1)
	}, fmt.Sprintf("must be in [%g, %g] or inf", hetero.MinEpsilon, hetero.MaxEpsilon))
	if err != nil {
		return err
	}
	parts, err := numbers("--shares", shares, func(x float64) bool { return x >= 0 && x <= 1 }, "must be in [0, 1]")
	if err != nil {
		return err
	}
	sum := 0.
	for _, s := range parts {
		sum += s
	}
	if len(parts) != len(asked) || math.Abs(sum-1) > 1e-9 {
		return fl.Invalid("--shares", shares, "must be one for each of --epsilons, with the sum 1")
	}
	sum = 0
	for i, epsilon := range asked {
		sum += parts[i]
		for len(q.eps) < int(math.Round(sum*float64(clients))) {
			q.eps = append(q.eps, epsilon)
		}
	}
	return nil
}

// numbers reads a list between commas.
func numbers(flag, list string, ok func(float64) bool, rule string) (out []float64, err error) {
	for text := range strings.SplitSeq(list, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !ok(x) {
			return nil, fl.Invalid(flag, text, "%s", rule)
		}
		out = append(out, x)
	}
	return out, nil
}

// readFile reads a demand and a value for each client.
func (q *ownQuestion) readFile(path string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r := csv.NewReader(file)
	if head, err := r.Read(); err != nil || !slices.Equal(head, []string{"epsilon", "value"}) {
		return errors.Join(err, fl.Invalid("--values", path, "must begin with the line epsilon,value"))
	}
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		epsilon, badEpsilon := strconv.ParseFloat(cells[0], 64)
		value, badValue := strconv.ParseFloat(cells[1], 64)
		category := value == math.Trunc(value) && value >= 0 && value < float64(q.categories)
		if badEpsilon != nil || badValue != nil || q.categories > 1 && !category || q.categories == 1 && !(value >= 0 && value <= 1) || len(q.eps) == mostOwnClients {
			line, _ := r.FieldPos(0)
			return fl.Invalid("--values", fmt.Sprintf("%s, line %d", path, line), "must be two numbers: an ε, and a number in [0, 1] or with --categories a category from 0 on; at most %d lines", mostOwnClients)
		}
		q.eps, q.values = append(q.eps, epsilon), append(q.values, value)
	}
	if len(q.eps) == 0 {
		return fl.Invalid("--values", path, "must have a line for each client")
	}
	return nil
}

// answer has a row for each kind of weights, and with values for each category.
func (q *ownQuestion) answer(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	l, err := hetero.PACFactor(q.categories, q.beta)
	if err != nil {
		return nil, err
	}
	lowC, err := hetero.CorrelatedLowerBound(q.eps, q.categories, q.beta)
	if err != nil {
		return nil, err
	}
	lowU, err := hetero.UncorrelatedLowerBound(q.eps, q.categories, q.beta)
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{
		Columns: []string{"weights", "category", "estimate", "truth", "noise_std", "least_weight", "largest_weight", "risk_correlated", "risk_uncorrelated"},
		Notes: []string{
			fmt.Sprintf("%d clients, %s, β = %g, central model: a trusted server sees the values.", len(q.eps), q.what(), q.beta),
			fmt.Sprintf("No mechanism with these demands keeps the largest error below %.3g with probability 1 − β on every data set, if demands may depend on the data, and below %.3g if they do not.", lowC, lowU),
			"risk_correlated and risk_uncorrelated are the paper's r_C and r_U: the error of the weights in the worst case, up to a constant. noise_std is the standard deviation of the noise of a published number.",
			"Every estimate spends the demand of every client. Publish one row and keep the others to yourself.",
		},
	}
	for i, w := range []struct {
		name  string
		weigh func([]float64) (hetero.Weights, error)
	}{
		{"saturating", hetero.Saturating}, {"proportional", hetero.Proportional}, {"uniform", hetero.Uniform},
		{"correlated", func(eps []float64) (hetero.Weights, error) { return hetero.Correlated(eps, l) }},
		{"uncorrelated", func(eps []float64) (hetero.Weights, error) { return hetero.Uncorrelated(eps, l) }},
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		weights, err := w.weigh(q.eps)
		if err != nil {
			return nil, err
		}
		riskC, err := hetero.CorrelatedRisk(q.eps, weights, l)
		if err != nil {
			return nil, err
		}
		riskU, err := hetero.UncorrelatedRisk(q.eps, weights, l)
		if err != nil {
			return nil, err
		}
		published, noise, err := q.publish(weights, env, uint64(i))
		if err != nil {
			return nil, err
		}
		for category := range max(1, len(published)) {
			row := experiment.Row{w.name, nil, nil, nil, noise, slices.Min(weights), slices.Max(weights), riskC, riskU}
			if q.categories > 1 && published != nil {
				row[1] = category
			}
			if published != nil {
				row[2], row[3] = published[category], q.truth()[category]
			}
			r.Rows = append(r.Rows, row)
		}
	}
	return r, nil
}

// truth is the mean, or the histogram.
func (q *ownQuestion) truth() []float64 {
	if q.categories == 1 {
		return ofNumbers(q.eps, q.values).truth
	}
	return ofCategories(q.eps, q.classes(), q.categories).truth
}

func (q *ownQuestion) classes() []int {
	out := make([]int, len(q.values))
	for i, v := range q.values {
		out[i] = int(v)
	}
	return out
}

// publish returns what is published with weights, nil without values, and the standard deviation of its noise.
func (q *ownQuestion) publish(w hetero.Weights, env experiment.Env, part uint64) (out []float64, noise float64, err error) {
	rng := experiment.Stream(env.Seed, 101, part)
	if q.categories == 1 {
		m, err := hetero.NewMean(q.eps, w)
		if err != nil {
			return nil, 0, err
		}
		if q.values != nil {
			out = make([]float64, 1)
			out[0], err = m.Estimate(q.values, rng)
		}
		return out, m.StdDev(), err
	}
	h, err := hetero.NewHistogram(q.eps, w, q.categories)
	if err != nil {
		return nil, 0, err
	}
	if q.values != nil {
		out, err = h.Estimate(q.classes(), rng)
	}
	return out, h.StdDev(), err
}

// what is published.
func (q *ownQuestion) what() string {
	if q.categories == 1 {
		return "a mean"
	}
	return fmt.Sprintf("a histogram of %d categories", q.categories)
}
