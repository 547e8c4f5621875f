// Package fltest checks that a mechanism keeps the contract of package fl. Use it in the
// tests of a mechanism of your own, as fstest is used for file systems. Start with
// [Mechanism], and with [Rounds] when you know the exact error.
//
// Both return errors and need no *testing.T, so they fit any test framework:
//
//	func TestContract(t *testing.T) {
//		round, _, err := fl.Complete(fl.Round{Mechanism: "mine", Dim: 20, MinReports: 10, ...})
//		if err != nil {
//			t.Fatal(err)
//		}
//		if err := fltest.Mechanism(round, fltest.Options{}); err != nil {
//			t.Error(err)
//		}
//	}
//
// # Parts
//
// [Mechanism] checks one part of the contract after the other. Each error begins with the
// name of the part that is broken, and a panic of the mechanism is such an error.
//
//	open             the complete round opens, unknown parameters are refused
//	guarantee        never promises more than the round says
//	amplification    the central ε is never above the local ε, falls with n   [fl.Amplifier]
//	cost             finite, and reports are about that long          [fl.Coster]
//	advice           sentences                                        [fl.Adviser]
//	encode           appends, is a function of rng, takes every finite gradient and no other
//	float32          as encode, the same report as from float64       [fl.Float32Mechanism]
//	key-value pairs  as encode                                        [fl.KeyValueMechanism]
//	ternary vectors  as encode                                        [fl.SparseMechanism]
//	tiers            as encode, the strictest guarantee first         [fl.TieredMechanism]
//	seeds            assigned seeds are in every report, drawn ones differ   [fl.SeededMechanism]
//	add              counts every good report and keeps no slice
//	bad reports      are refused and change nothing, or are counted as one whole report
//	batch            all or nothing                                   [fl.AddBatch, fl.BatchAdder]
//	merge            is a sum, leaves other alone, refuses other rounds
//	snapshot         restores the state in another process, damage is refused or harmless
//	estimate         has the round's columns, changes nothing, respects MinReports
//	unbiased         the mean is the clients' gradient, the stated standard errors are close to the measured errors
//	concurrency      many goroutines encode at once
//
// Run the test with -race as well. Without it the part "concurrency" can miss a data race.
//
// # What it does not show
//
// No test of this kind proves a guarantee. Package privacy/verify checks a round's promise
// on the code that runs.
package fltest

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/hushgrad/hushgrad/fl"
)

// Options of a check. The zero value is good for most mechanisms.
type Options struct {
	// Gradients are the clients' inputs, of Round.Dim coordinates each: client i has
	// Gradients[i mod len(Gradients)]. nil stands for random ones within Round.Scale.
	Gradients [][]float64
	// Reports is how many reports are encoded, at least 10 and Round.MinReports. 0 stands
	// for the larger of 40 and Round.MinReports, which must then be at most 10 000.
	Reports int
	// Biased leaves out the part "unbiased", for a mechanism that trades a bias for less noise and says so.
	Biased bool
	// Seed is the seed of the private randomness. Equal seeds, zeros included, give equal
	// checks, but for what a nil rng draws.
	Seed [32]byte
}

// Mechanism opens a complete round and checks every part of the mechanism's contract. It
// returns nil, or one error for each check that failed, joined by errors.Join. It counts
// some hundred times Options.Reports reports, which takes a tenth of a second for most
// mechanisms with 20 coordinates and 40 reports.
//
// A mechanism that keeps the contract is refused with probability below 1e-12 because of
// the fresh randomness behind a nil rng. The part "unbiased" refuses a Seed with probability
// of about (Dim+1)·2e-9, as far as averages of 40 rounds are normal: see [Rounds]. It runs rounds
// of public seeds of its own, in which all clients have one gradient.
func Mechanism(r fl.Round, o Options) error {
	var s *suite
	if err := protect(func() (err error) { s, err = newSuite(r, o); return err }); err != nil {
		return fmt.Errorf("fltest: %w", err)
	}
	var errs []error
	for _, part := range contract {
		for _, check := range part.checks {
			if err := protect(func() error { return check(s) }); err != nil {
				errs = append(errs, fmt.Errorf("fltest: %s: %w", part.name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// contract lists the checks by the part of the contract that they are about.
var contract = []struct {
	name   string
	checks []func(*suite) error
}{
	{"open", []func(*suite) error{(*suite).completeRoundStays, (*suite).unknownParameterIsRefused}},
	{"guarantee", []func(*suite) error{(*suite).guaranteeIsWithinTheRound}},
	{"amplification", []func(*suite) error{optional((*suite).amplificationFalls), optional((*suite).amplificationRefuses)}},
	{"cost", []func(*suite) error{optional((*suite).costIsFinite)}},
	{"advice", []func(*suite) error{optional((*suite).adviceIsText)}},
	{"encode", []func(*suite) error{(*suite).gradientsAreEncoded, (*suite).badGradientsAreRefused, (*suite).nilRandIsFresh}},
	{"float32", []func(*suite) error{optional((*suite).float32sAreEncoded), optional((*suite).badFloat32sAreRefused)}},
	{"key-value pairs", []func(*suite) error{optional((*suite).pairsAreEncoded), optional((*suite).badPairsAreRefused)}},
	{"ternary vectors", []func(*suite) error{optional((*suite).vectorsAreEncoded), optional((*suite).badVectorsAreRefused)}},
	{"tiers", []func(*suite) error{optional((*suite).menuBeginsStrict), optional((*suite).tiersAreEncoded), optional((*suite).tiersAreEstimated)}},
	{"seeds", []func(*suite) error{optional((*suite).seedsAreAssigned), optional((*suite).seedsOfNoReport)}},
	{"add", []func(*suite) error{(*suite).addKeepsNoSlice}},
	{"bad reports", []func(*suite) error{(*suite).badReportsChangeNothing}},
	{"batch", []func(*suite) error{(*suite).goodBatchIsCounted, (*suite).badBatchChangesNothing}},
	{"merge", []func(*suite) error{(*suite).mergeIsSum, (*suite).mergeLeavesOther, (*suite).mergeTakesReopened, (*suite).mergeRefusesStrangers}},
	{"snapshot", []func(*suite) error{(*suite).snapshotRestores, (*suite).snapshotIsCopy, (*suite).damagedSnapshotsAreHarmless}},
	{"estimate", []func(*suite) error{(*suite).estimateNeedsReports, (*suite).estimateIsWhole, (*suite).estimateChangesNothing, (*suite).estimateGoesOn}},
	{"unbiased", []func(*suite) error{(*suite).meanIsUnbiased, (*suite).meanIsUnbiasedInQuiet}},
	{"concurrency", []func(*suite) error{(*suite).goroutinesEncodeAtOnce}},
}

// optional is the check of an optional interface M. It returns nil when the mechanism does not implement M.
func optional[M any](check func(*suite, M) error) func(*suite) error {
	return func(s *suite) error {
		if m, ok := s.mechanism.(M); ok {
			return check(s, m)
		}
		return nil
	}
}

// failure is what a check panics with to end. protect makes an error of it.
type failure struct{ err error }

// fail ends the check unless err is nil.
func fail(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns v, or ends the check with an error.
func must[T any](v T, err error) T {
	fail(err)
	return v
}

// protect calls f and returns its failure, or its panic, as an error.
func protect(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.err
		default:
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// named is something to check and what an error calls it.
type named[T any] struct {
	what  string
	value T
}

// each returns the first error, or panic, of check.
func each[T any](things []named[T], check func(T) error) error {
	for _, thing := range things {
		if err := protect(func() error { return check(thing.value) }); err != nil {
			return fmt.Errorf("%s: %w", thing.what, err)
		}
	}
	return nil
}
