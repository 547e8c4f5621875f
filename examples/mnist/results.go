package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hushgrad/hushgrad/examples/internal/curious"
	"github.com/hushgrad/hushgrad/examples/internal/training"
	"github.com/hushgrad/hushgrad/trainer"
)

// finish prints and writes what a run led to.
func (o options) finish(ctx context.Context, s *summary, model *trainer.Model, w io.Writer) error {
	s.TestAccuracy, s.Backdoor = s.Score, o.Liars.Success()
	if err := s.Print(ctx, w, fmt.Sprintf("  (%s pictures, %.1f s)", s.Data, s.Seconds), fmt.Sprintf("  (chance %.2f%s)", s.Chance, s.before("; zero-shot %.4f"))); err != nil {
		return err
	}
	if s.Central != nil { // a shuffler would change something
		if err := o.Site(o.dashboard.Address, o.request.Delta, nil).Print(w, s.Promise, s.Cohort); err != nil {
			return err
		}
	}
	if err := s.Guesses.Print(w, s.Trust); err != nil {
		return err
	}
	title := fmt.Sprintf("%s on %s pictures, %s, %v%s", s.Model, s.Data, s.Mechanism, s.Promise, s.before(", %.3f before any client took part"))
	return s.Write(w, o.out, title, s, "model.npy", func() error { return trainer.Save(filepath.Join(o.out, "model.npy"), model, s.Params) })
}

// summary is what a run led to: summary.json.
type summary struct {
	TestAccuracy float64 `json:"test_accuracy"`
	*training.Outcome
	Data     string `json:"data"`
	Model    string `json:"model"`
	Features string `json:"features"`
	// FeatureMean is the mean around which the features are: what run.Centring has found; null where there was no such round.
	FeatureMean []float64        `json:"feature_mean"`
	Roles       int              `json:"roles"`
	ZeroShot    *float64         `json:"zero_shot_accuracy"` // null where the features know no classes
	Chance      float64          `json:"chance"`             // accuracy of a guess
	Guesses     *curious.Guesses `json:"label_guesses"`      // null where no report can be decoded alone, and after an interrupt
	Backdoor    *float64         `json:"backdoor"`           // share of marked pictures that are taken for class 0; null for other attacks
}

// before returns the zero-shot accuracy in words, or nothing.
func (s *summary) before(format string) string {
	if s.ZeroShot == nil {
		return ""
	}
	return fmt.Sprintf(format, *s.ZeroShot)
}
