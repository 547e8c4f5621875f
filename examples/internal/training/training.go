// Package training trains as a plan says: a line for each round, then what the run promises, and files with
// the results. Use it in an example, so that all examples print and leave the same. Start with
// [Config.Train].
package training

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/history"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// Config is a run and how to measure it. All fields are required but those that say otherwise.
type Config struct {
	Run    *plan.Run
	Rounds trainer.Rounds
	First  []float64 // the first model
	Held   int       // rounds of the run that were held before Train, about something else than gradients
	// Suspects is the number of coordinates at which more reports agreed in those rounds than honest clients send.
	Suspects int
	Measure  history.Measure
	// Evaluate measures a model on examples that no client holds.
	Evaluate func(params []float64) (score, loss float64, err error)
	// Show, if not nil, shows a round elsewhere, too. before is the first model's score.
	Show func(p trainer.Progress, before, score, loss float64) error
	// Live, if not nil, takes the place of a line for each round: it sees the measure so far as a few blocks and a number. The last of them
	// is printed.
	Live func(measure string)
	// Check, if not nil, compares steps or means with public examples.
	Check *Check
	// Bare, if not nil, are the same rounds without privacy.
	Bare *Bare
	// Bytes returns the length of all reports so far.
	Bytes func() int64
}

// Outcome is what a run led to. Its fields are in summary.json.
type Outcome struct {
	*plan.Run
	plan.Promise           // set by Print
	Trained        int     `json:"rounds_trained"` // those that were held before included
	Interrupted    bool    `json:"interrupted"`
	Alarms         int     `json:"rounds_with_an_alarm"`       // more reports agreed than honest clients send
	PublicAlarms   int     `json:"rounds_with_a_public_alarm"` // means were not what public examples lead to
	PublicAlarm    int     `json:"first_public_alarm"`         // round, from 1; 0: none
	Refused        int     `json:"steps_refused"`              // by the check on public examples
	Lost           bool    `json:"lost_in_noise"`              // no means stood out of their noise: see judge
	BytesPerReport float64 `json:"bytes_per_report"`
	Seconds        float64 `json:"seconds"`
	// Score is the measure of the last round, and Params its model.
	Score  float64   `json:"-"`
	Params []float64 `json:"-"`
	// Before is the first model's measure, and Bare the measure after as many rounds without privacy, nil where there were
	// none.
	Before float64  `json:"before"`
	Bare   *float64 `json:"without_privacy"`

	measure history.Measure
	table   *history.History
}

// lostNote is printed where Outcome.Lost is true. Weak signals of many rounds add up to a model, too, so it does not say that nothing was learned.
const lostNote = "The means of the first and of the last rounds cannot be distinguished from their noise: the run may have learned little or nothing. More %ss or fewer parameters help, and most often a larger --budget."

// alarmNote is printed once, below the first round with an alarm.
const alarmNote = `       alarm: clients lie. Coordinates at which more reports agree than honest
       clients send: %d. Means leave them out. A false alarm: 1 in 10^6 rounds.
`

// publicAlarmNote is printed once, below the first round with an alarm by public examples.
const publicAlarmNote = `       public alarm: clients lie, or hold examples unlike the public ones.
       Coordinates of which it says so: %d. Steps leave them out.
`

// refusedNote is printed once, below the first round whose step is not taken.
const refusedNote = `       check: the step made the model worse on public examples, so it is not
       taken. Clients lie, or they hold examples of another kind.
`

// heading says what the columns of the table are.
func (c Config) heading() string {
	said := fmt.Sprintf("every ε is of all that a %s has sent so far; s: seconds of the round", c.Run.Unit)
	if c.Run.Rounds*c.Run.Cohort <= c.Run.Clients {
		said = fmt.Sprintf("each %s sends one report: ε is the one report's; s: seconds of the round", c.Run.Unit)
	}
	switch c.Held {
	case 0:
		return said
	case 1:
		return said + "\nthe table begins with round 2: round 1 learned the features' mean"
	default:
		return said + fmt.Sprintf("\nthe table begins with round %d: those before learned the columns' numbers", c.Held+1)
	}
}

// Train holds the rounds that the budget allows, and prints a line for each. When ctx ends, the error is
// ctx's, and the outcome has the rounds so far. It is nil when there are none, and after any other error.
func (c Config) Train(ctx context.Context, w io.Writer) (_ *Outcome, err error) {
	o := &Outcome{Run: c.Run, measure: c.Measure}
	checks, err := c.Check.open(c.Run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, checks.close()) }()
	if o.Before, _, err = c.Evaluate(c.First); err != nil {
		return nil, err
	}
	lines := w
	if c.Live != nil {
		lines = io.Discard
	}
	if _, err := fmt.Fprintln(lines, c.heading()); err != nil {
		return nil, err
	}
	table, err := history.New(lines, c.Measure, !c.Run.Trust.Local())
	if err != nil {
		return nil, err
	}
	o.table = table
	alarm := func(coordinates int) (err error) {
		if coordinates > 0 {
			if o.Alarms++; o.Alarms == 1 {
				_, err = fmt.Fprintf(w, alarmNote, coordinates)
			}
		}
		return err
	}
	if err := alarm(c.Suspects); err != nil {
		return nil, err
	}
	began, sent := time.Now(), c.Bytes()
	_, err = trainer.Run(ctx, c.Rounds, c.First, trainer.RunConfig{
		Held: c.Held, Rounds: c.Run.Affordable - c.Held, // what all rounds cost together is known beforehand
		Steps: trainer.Momentum(c.Run.LearningRate, c.Run.Momentum, c.Run.Averaging),
		Check: checks.better, Suspects: checks.suspects,
		After: func(p trainer.Progress) error {
			score, loss, err := c.Evaluate(p.Average)
			if err == nil && c.Show != nil {
				err = c.Show(p, o.Before, score, loss)
			}
			promise, failed := c.Run.Promise(ctx, p.Round+1)
			if err := errors.Join(err, failed); err != nil {
				return err
			}
			seconds, bytes := time.Since(began).Seconds()-o.Seconds, c.Bytes()-sent
			o.Seconds, sent = o.Seconds+seconds, sent+bytes
			o.Trained, o.Score, o.Params = p.Round+1, score, slices.Clone(p.Average)
			err = table.Add(history.Round{
				Round: o.Trained, Score: score, Loss: loss, Reports: p.Estimate.Reports, Bytes: bytes,
				EpsilonLocal: promise.LocalTotal, EpsilonCentral: promise.Central, Seconds: seconds,
			})
			if c.Live != nil {
				c.Live(o.live())
			}
			err = errors.Join(err, alarm(len(p.Estimate.Suspects)))
			if n := len(p.Suspects); n > 0 {
				if o.PublicAlarms++; o.PublicAlarms == 1 {
					o.PublicAlarm = o.Trained
					_, noted := fmt.Fprintf(w, publicAlarmNote, n)
					err = errors.Join(err, noted)
				}
			}
			if p.Refused {
				if o.Refused++; o.Refused == 1 {
					_, noted := fmt.Fprint(w, refusedNote)
					err = errors.Join(err, noted)
				}
			}
			o.judge(p)
			return err
		},
	})
	o.BytesPerReport = table.BytesPerReport()
	if c.Live != nil && o.Trained > 0 {
		text := fmt.Sprintf("%s  (from %.4f, %d of %d rounds)", o.live(), o.Before, o.Trained, c.Run.Affordable)
		err = errors.Join(err, plan.Words{About: c.Measure.Name, Text: []string{text}}.Print(w))
	}
	if err == nil && c.Bare != nil {
		err = c.trainBare(ctx, o)
	}
	if o.Interrupted = err != nil && ctx.Err() != nil; o.Interrupted {
		err = ctx.Err() // whatever was under way when it ended
	}
	if err == nil || o.Interrupted && o.Trained > 0 {
		return o, err
	}
	return nil, err
}

// judge says whether the rounds so far were lost in noise: neither the first ones' means stand out, nor the last ones'. The means of a run that has learned
// may no longer stand out, since its gradients become short. A run that has gained a quarter of what the first model lacks has found a signal, however
// small each round's signal is.
func (o *Outcome) judge(p trainer.Progress) {
	o.Lost = p.Lost && !p.Found && !math.IsInf(o.Template.Epsilon, 1) && o.Score-o.Before < (1-o.Before)/4
}

// live is the measure of the rounds so far.
func (o *Outcome) live() string { return fmt.Sprintf("%s %.4f", o.table.Spark(18), o.Score) }

// trainBare trains without privacy, as many rounds as the private run had.
func (c Config) trainBare(ctx context.Context, o *Outcome) (err error) {
	rounds, steps := *c.Bare, c.Bare.Steps
	if rounds.worker, err = rounds.Model.NewWorker(min(500, len(rounds.X))); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rounds.worker.Close()) }()
	params, err := trainer.Run(ctx, rounds, c.First, trainer.RunConfig{
		Rounds: o.Trained, Steps: trainer.Momentum(steps.LearningRate, steps.Momentum, steps.Averaging),
	})
	if err != nil {
		return err
	}
	score, _, err := c.Evaluate(params)
	o.Bare = &score
	return err
}

// Bare are rounds without privacy: gradients of examples in one place, as many in a round as its cohort holds.
type Bare struct {
	Model    *trainer.Model
	X        [][]float64
	Labels   []int
	PerRound int
	Steps    plan.Steps

	worker *trainer.Worker
}

// Mean returns the mean gradient of the round's examples. The rounds take turns.
func (b Bare) Mean(_ context.Context, round int, params []float64) (*fl.Estimate, error) {
	x, labels, mean := make([][]float64, b.PerRound), make([]int, b.PerRound), make([]float64, len(params))
	for i := range x {
		at := (round*b.PerRound + i) % len(b.X)
		x[i], labels[i] = b.X[at], b.Labels[at]
	}
	_, err := b.worker.Gradient(mean, params, x, labels)
	return fl.NewEstimate(fl.Round{}, fl.Guarantee{}, int64(b.PerRound), fl.Series{Value: mean}), err
}

// Print writes the score and the first model's score, each with a remark behind it, the score without privacy, and what the run promises. The promise counts a round
// that was interrupted: clients may have reported for it.
func (o *Outcome) Print(ctx context.Context, w io.Writer, remark, before string) (err error) {
	reported := o.Trained
	fmt.Fprintln(w)
	if o.Interrupted {
		reported = min(reported+1, o.Affordable)
		begun := ""
		if reported > o.Trained {
			begun = fmt.Sprintf("; clients may have reported in round %d", reported)
		}
		fmt.Fprintf(w, "interrupted        after %d of %d rounds%s\n", o.Trained, o.Affordable, begun)
	}
	fmt.Fprintf(w, "test %-14s%.4f%s\n", o.measure.Name, o.Score, remark)
	if o.Bare != nil {
		fmt.Fprintf(w, "  before round 1   %.4f%s\n  without privacy  %.4f  (as many rounds)\n", o.Before, before, *o.Bare)
	}
	if o.Lost {
		if err := (plan.Words{About: "warning", Text: []string{fmt.Sprintf(lostNote, o.Run.Unit)}}).Print(w); err != nil {
			return err
		}
	}
	o.Promise, err = o.PrintEnd(ctx, w, reported)
	return err
}

// Write compares the upload with a dense gradient, and leaves the files of history.History.Write in dir, and
// others, between commas, that save writes there. An empty dir is none.
func (o *Outcome) Write(w io.Writer, dir, title string, summary any, others string, save func() error) error {
	if err := o.table.PrintUpload(w, o.Dim); err != nil || dir == "" {
		return err
	}
	if err := o.table.Write(dir, title, summary); err != nil {
		return err
	}
	if err := save(); err != nil {
		return err
	}
	files := fmt.Sprintf("%s: history.csv, summary.json, %s.png, %s", dir, o.measure.Column, others)
	return plan.Words{About: "results", Text: []string{files}}.Print(w)
}
