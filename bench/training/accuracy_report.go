package training

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
)

// accuracies returns the accuracies of the repeats.
func (c *cell) accuracies() (values []float64) {
	for _, o := range c.outcomes {
		values = append(values, o.accuracy)
	}
	return values
}

// accuracy is the mean over the repeats, with its interval.
func (c *cell) accuracy() experiment.Interval { return experiment.MeanInterval(c.accuracies()) }

// bytes is the mean length of a report.
func (c *cell) bytes() float64 {
	sum := 0.
	for _, o := range c.outcomes {
		sum += o.bytes / float64(len(c.outcomes))
	}
	return sum
}

// orNil makes a cell of a table.
func orNil(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

func (s sweep) report(cells, beside []*cell, anchors []anchor, data *dataset.Data) *experiment.Result {
	r := &experiment.Result{
		Columns: slices.Concat([]string{
			"mechanism", "features", "epsilon_local", "epsilon_local_all", "epsilon_central", "accuracy", "low", "high", "repeats",
		}, besideColumns, []string{
			"attack_labels_found", "rounds", "participations", "clients", "skew", "dropout", "cohort", "quorum", "sparsity", "scale", "planned_noise", "noise", "learning_rate",
			"bytes_per_report", "seconds", "dim", "l1", "l2", "centred",
		}),
		Notes: []string{
			data.Note + s.protocol(cells, data.Train.Len()),
			"epsilon_local is the ε of one report, against everybody. epsilon_local_all is the ε of all reports of a client together, participations times as much. epsilon_central is the ε of all of a client's reports at δ, against a party that sees only the shuffled reports of each round. The epsilon_central of gaussian is composed without any gain from shuffling. The epsilon_central of central trusts the server with every gradient. The epsilon_central of gaussian-shares is against either of two servers alone. gaussian-shares-honest is the same with clients that add a part of the noise: its epsilon_central holds if nine clients of ten are honest, and twice as much without them. auto, sumdp, both gaussian-shares and central are given a central ε, the others a local one.",
			"The learning rate follows from the standard errors of the first round's estimate, noise, and for auto from the exact error, planned_noise: both are of a coordinate, in units of the gradient. The rest of the training is the same for all.",
			"low and high are Student's 95 % interval of the mean over the repeats, which differ in all randomness but not in the pictures. seconds are the seconds of one run on one core.",
			fmt.Sprintf("dim is the number of coordinates of a gradient. l1 and l2 are its mean norms at the first model, on generated digits; for clients with several pictures, %g of these. centred says that the features have one norm around a public centre. The first of 10 rounds or more is then about the mean of the features, as in examples/mnist, unless the L1 norm of all coordinates is clipped.", clientClip),
		},
		Plot: s.figure(slices.Concat(cells, beside), anchors),
	}
	r.Notes = append(r.Notes, besideNotes(s.delta)...)
	r.Notes = append(r.Notes, fmt.Sprintf("attack_labels_found is what an attack finds that links all reports of a client: the share of labels of %d clients that the receiver of the reports guesses right, as in go run ./bench attack, at the first model. A better attack may find more.", victims))
	if s.dropout > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("Each client of a round fails to report with probability %g. quorum is the number of reports below which a round is not released; a round misses it with a probability of at most %g. The ε against shuffled reports are for rounds with quorum reports. They hold where it does not depend on a client's picture whether it reports. The attacks are on clients that report in every round.", s.dropout, shortfall))
	}
	if len(anchors) > 0 {
		r.Notes = append(r.Notes, anchorsNote)
	}
	for _, c := range cells {
		a := c.accuracy()
		var labels any
		if c.found != nil {
			labels = c.found.Value
		}
		r.Rows = append(r.Rows, slices.Concat(experiment.Row{
			c.name, c.task.features, orNil(c.course.local), orNil(c.course.localOfAll()), orNil(c.course.central), a.Value, a.Low, a.High, len(c.outcomes),
		}, c.beside(), experiment.Row{
			labels, c.course.rounds, c.course.participations, c.demands.Clients, s.skew, s.dropout, c.course.cohort, c.course.quorum, c.course.sparsity, c.course.scale,
			orNil(c.course.noise), c.outcomes[0].noise, c.outcomes[0].rate, c.bytes(), c.seconds, c.demands.Dim, c.demands.L1, c.demands.L2, c.demands.Centred,
		}))
	}
	r.Verdicts = append(s.targets(cells), s.comparisons(cells)...)
	return r
}

func (s sweep) protocol(cells []*cell, pictures int) string {
	var text strings.Builder
	for i, c := range cells {
		if i > 0 && cells[i-1].task == c.task {
			continue
		}
		d := c.demands
		if i == 0 {
			fmt.Fprintf(&text, ". %d clients share %d training pictures, softmax regression, δ = %g.", d.Clients, pictures, d.Delta)
			if s.skew > 0 {
				fmt.Fprintf(&text, " Each client draws its shares of the classes from a Dirichlet distribution of concentration %g.", s.skew)
			}
		}
		fmt.Fprintf(&text, " %s: %v, %d weights; gradients at the first model have mean norms L1 = %.3g and L2 = %.3g on generated digits (see l1, l2), from which clips follow.",
			c.task.features, c.task.opened, d.Dim, d.L1, d.L2)
	}
	return text.String()
}

// label names the curve of a cell.
func (s sweep) label(c *cell) string {
	if len(s.features) == 1 {
		return c.name
	}
	return c.name + ", " + c.task.features
}

// targets says which accuracy the planner reaches for which central ε.
func (s sweep) targets(cells []*cell) []experiment.Verdict {
	var out []experiment.Verdict
	for _, t := range []struct{ accuracy, epsilon float64 }{{0.86, 0.6}, {0.88, 1}, {0.90, 1}} {
		best, found := experiment.Interval{}, (*cell)(nil)
		for _, c := range cells {
			if a := c.accuracy(); (c.role == planned || c.role == ours) && c.course.central != nil && *c.course.central <= t.epsilon && a.Value > best.Value {
				best, found = a, c
			}
		}
		if found == nil {
			continue
		}
		out = append(out, experiment.Verdict{
			Claim: fmt.Sprintf("accuracy %.2f within central ε = %g", t.accuracy, t.epsilon),
			Holds: best.Value >= t.accuracy,
			Detail: fmt.Sprintf("%.4f [%.4f, %.4f] with %s at central ε = %s; of one report ε = %s against everybody, of all %d reports of a client %s",
				best.Value, best.Low, best.High, s.label(found), fl.FormatUp(*found.course.central, 4), fl.FormatUp(*found.course.local, 4), found.course.participations, fl.FormatUp(*found.course.local*float64(found.course.participations), 4)),
		})
	}
	return out
}

// comparisons says where the best of ours is at or above the local baselines, on each kind of features.
func (s sweep) comparisons(cells []*cell) []experiment.Verdict {
	var out []experiment.Verdict
	for _, name := range s.features {
		for _, epsilon := range s.locals {
			var at []*cell
			for _, c := range cells {
				if c.task.features == name && c.epsilon == epsilon {
					at = append(at, c)
				}
			}
			if v, ok := s.compare(at, epsilon); ok {
				out = append(out, v)
			}
		}
	}
	return out
}

// compare compares the cells of one ε of a report. ok is false if none is ours.
func (s sweep) compare(cells []*cell, epsilon float64) (v experiment.Verdict, ok bool) {
	best, name := experiment.Interval{}, ""
	for _, c := range cells {
		if a := c.accuracy(); c.role == ours && a.Value > best.Value {
			best, name = a, s.label(c)
		}
	}
	if name == "" {
		return v, false
	}
	v = experiment.Verdict{
		Claim: fmt.Sprintf("ε = %g per report: the best of ours is at or above every local baseline, or within error bars of it", epsilon), Holds: true,
	}
	detail := []string{fmt.Sprintf("%s %.3f [%.3f, %.3f]", name, best.Value, best.Low, best.High)}
	for _, c := range cells {
		if c.role != localBaseline {
			continue
		}
		a := c.accuracy()
		text := fmt.Sprintf("%s %.3f [%.3f, %.3f]", s.label(c), a.Value, a.Low, a.High)
		if a.Value > best.Value && a.Low > best.High {
			v.Holds = false
			text += ", above ours"
		}
		detail = append(detail, text)
	}
	v.Detail = strings.Join(detail, "; ")
	return v, true
}
