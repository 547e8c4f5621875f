package fltest

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Accuracy is what [Rounds] compares whole rounds with.
type Accuracy struct {
	// Gradients are the clients' inputs, of Round.Dim coordinates each: client i has
	// Gradients[i mod len(Gradients)].
	Gradients [][]float64
	// Truth is the mean of the gradients as the mechanism clips them, Round.Dim numbers.
	Truth []float64
	// MSE is the exact expected squared error of the mean estimated from one report, in
	// squared units of the gradient: the sum over the coordinates, the average over
	// Gradients and over public seeds. n reports have the error MSE/n.
	MSE float64
	// Reports is the number n of reports of a round, a multiple of len(Gradients) and at
	// least Round.MinReports. 0 stands for the smallest that is at least 40.
	Reports int
	// Rounds is the number K of rounds, at least 20. 0 stands for 100.
	Rounds int
	// Z is how many standard errors a statistic may be off, positive. 0 stands for 7.
	Z float64
	// StdErrFactor is how far the squared standard errors that estimates state may be from
	// the measured squared error, in both directions: at least 1. 0 stands for any.
	StdErrFactor float64
	// NoiseFactor is StdErrFactor for the squared NoiseNorm of the estimates.
	NoiseFactor float64
	// Seed is the seed of the private randomness and of the public seeds. Equal seeds give
	// equal results.
	Seed [32]byte
}

// Rounds runs K whole rounds of r with fresh public seeds and checks their mean:
//
//	accuracy         the average squared error is MSE/n
//	bias             the average of every coordinate is Truth
//	standard errors  the sum of the squared standard errors is the average squared error,
//	                 up to StdErrFactor
//	norm of noise    the average squared NoiseNorm is the average squared error, up to NoiseFactor
//
// Each of these Dim+3 statistics may be off by Z standard errors of its own, from the K
// rounds, which are independent. The standard error of a coordinate counts as at least half
// of what MSE says of an average one, because a coordinate that few reports hit may show
// too little spread.
//
// A correct mechanism is refused with probability at most (Dim+4)·P[|T| > Z], where T has
// Student's distribution with K−1 degrees of freedom and as far as averages of K rounds
// are normal. P is 1.9e-5 for K = 100 and Z = 4.5, 3.1e-10 for Z = 7, 2.4e-12 for Z = 8;
// 5.2e-7 for K = 40 and Z = 6. An error of the mean of a few standard errors goes
// unnoticed: with K rounds of d coordinates the accuracy's standard errors are about
// √(2/(K·d)) of MSE.
func Rounds(r fl.Round, a Accuracy) error {
	a, err := a.complete(r)
	if err != nil {
		return fmt.Errorf("fltest: accuracy: %w", err)
	}
	m, err := measure(r, a)
	if err != nil {
		return fmt.Errorf("fltest: %w", err)
	}
	errs := []error{a.accuracy(m.squared), a.bias(m.coordinates)}
	if f := a.StdErrFactor; f != 0 {
		errs = append(errs, a.stated("standard errors", m.stdErrs, m.squared, 1/f, f))
	}
	if f := a.NoiseFactor; f != 0 {
		errs = append(errs, a.stated("norm of the noise", m.noise, m.squared, 1/f, f))
	}
	for i, err := range errs {
		if err != nil {
			errs[i] = fmt.Errorf("fltest: %w", err)
		}
	}
	return errors.Join(errs...)
}

// measured are statistics of whole rounds: the squared error, each coordinate of the mean, and the squares of what
// estimates state. These are their standard errors, if they have any, and their norm of the noise.
type measured struct {
	squared, stdErrs, noise sample
	coordinates             []sample
}

// measure runs whole rounds.
func measure(r fl.Round, a Accuracy) (m measured, err error) {
	m.coordinates = make([]sample, r.Dim)
	for k := range a.Rounds {
		var e *fl.Estimate
		if err := protect(func() (err error) { e, err = a.round(r, k); return err }); err != nil {
			return m, fmt.Errorf("round %d: %w", k, err)
		}
		mean := e.Mean()
		if len(mean.Value) != r.Dim {
			return m, fmt.Errorf("round %d: a mean of %d coordinates, want dim = %d", k, len(mean.Value), r.Dim)
		}
		var error2, stdErr2 float64
		for j, v := range mean.Value {
			error2 += (v - a.Truth[j]) * (v - a.Truth[j])
			m.coordinates[j].add(v)
		}
		for _, v := range mean.StdErr {
			stdErr2 += v * v
		}
		m.squared.add(error2)
		if mean.StdErr != nil {
			m.stdErrs.add(stdErr2)
		}
		m.noise.add(e.NoiseNorm * e.NoiseNorm)
	}
	return m, nil
}

// complete fills in defaults and checks everything.
func (a Accuracy) complete(r fl.Round) (Accuracy, error) {
	clients := len(a.Gradients)
	if clients == 0 {
		return a, fl.Invalid("gradients", "none", "must be at least one")
	}
	if err := checkGradients(r, a.Gradients); err != nil {
		return a, err
	}
	a.Reports = cmp.Or(a.Reports, (max(usualReports, r.MinReports)+clients-1)/clients*clients)
	a.Rounds = cmp.Or(a.Rounds, 100)
	a.Z = cmp.Or(a.Z, 7)
	switch {
	case len(a.Truth) != r.Dim:
		return a, fl.Invalid("truth", len(a.Truth), "must have dim = %d coordinates", r.Dim)
	case !(a.MSE > 0) || math.IsInf(a.MSE, 1):
		return a, fl.Invalid("mse", a.MSE, "must be finite and > 0")
	case a.Reports%clients != 0 || a.Reports < r.MinReports:
		return a, fl.Invalid("reports", a.Reports, "must be a multiple of the %d gradients, at least min_reports = %d", clients, r.MinReports)
	case a.Rounds < 20:
		return a, fl.Invalid("rounds", a.Rounds, "must be at least 20")
	case !(a.Z > 0):
		return a, fl.Invalid("z", a.Z, "must be > 0")
	case a.StdErrFactor != 0 && !(a.StdErrFactor >= 1):
		return a, fl.Invalid("std_err_factor", a.StdErrFactor, "must be 0 or at least 1")
	case a.NoiseFactor != 0 && !(a.NoiseFactor >= 1):
		return a, fl.Invalid("noise_factor", a.NoiseFactor, "must be 0 or at least 1")
	}
	return a, nil
}

// round runs round k of r.
func (a Accuracy) round(r fl.Round, k int) (*fl.Estimate, error) {
	s := suite{seed: a.Seed}
	rng := s.rand(uint64(k))
	r.PublicSeed = sha256.Sum256(fmt.Appendf(a.Seed[:], "public seed %d", k))
	m, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	agg := m.NewAggregator()
	var report []byte
	for i := range a.Reports {
		if report, err = m.Encode(report[:0], a.Gradients[i%len(a.Gradients)], rng); err == nil {
			err = agg.Add(report)
		}
		if err != nil {
			return nil, err
		}
	}
	return agg.Estimate()
}

func (a Accuracy) accuracy(squared sample) error {
	got, se := squared.mean()
	want := a.MSE / float64(a.Reports)
	if math.Abs(got-want) <= a.Z*se {
		return nil
	}
	return fmt.Errorf("accuracy: the squared error is %.6g ± %.2g, want %.6g (%.1f standard errors)", got, se, want, (got-want)/se)
}

func (a Accuracy) bias(coordinates []sample) error {
	least := math.Sqrt(a.MSE/float64(len(coordinates))/float64(a.Reports*a.Rounds)) / 2
	wrong, worst, at := 0, 0.0, 0
	for j, c := range coordinates {
		mean, se := c.mean()
		z := math.Abs(mean-a.Truth[j]) / max(se, least)
		if math.IsNaN(z) {
			z = math.Inf(1)
		}
		if z > a.Z {
			wrong++
		}
		if z > worst {
			worst, at = z, j
		}
	}
	if wrong == 0 {
		return nil
	}
	mean, se := coordinates[at].mean()
	return fmt.Errorf("bias: %d of %d coordinates are biased, most of all coordinate %d: %.6g ± %.2g, want %.6g (%.1f standard errors)",
		wrong, len(coordinates), at, mean, max(se, least), a.Truth[at], worst)
}

// stated compares the squared error that estimates state with the measured one: least and most say how much of it they
// may state.
func (a Accuracy) stated(what string, stated, squared sample, least, most float64) error {
	says, _ := stated.mean()
	is, se := squared.mean()
	if says >= (is-a.Z*se)*least && says <= (is+a.Z*se)*most {
		return nil
	}
	return fmt.Errorf("%s: squares sum to %.6g, the squared error is %.6g ± %.2g, want between %.3g and %.3g times that", what, says, is, se, least, most)
}

// sample is the moments of independent numbers, in the manner of Welford.
type sample struct{ n, average, squares float64 }

func (s *sample) add(v float64) {
	s.n++
	d := v - s.average
	s.average += d / s.n
	s.squares += d * (v - s.average)
}

// mean returns the average and its standard error.
func (s *sample) mean() (average, se float64) {
	return s.average, math.Sqrt(s.squares / (s.n - 1) / s.n)
}
