package serving

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha512"
	"errors"
	"fmt"
	"os"
	"runtime"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/server/admit"
)

// An issuer aims at so many tokens a second for each core, and at a token that costs it little more than a bare signature.
const (
	tokensPerCore  = 1000
	bareSignatures = 1.15
)

// tokensExperiment measures an issuer.
func tokensExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:    "tokens",
		Title:   "Tokens per second of an issuer, beside the bare signature, and the time to make the keys of a round",
		Source:  "Our own measurement; no paper",
		Without: []string{experiment.FlagData},
		Bind: func(f *flag.FlagSet) experiment.Run {
			dir := f.String("dir", "", "`directory` on the disk to measure, for journals; empty: the system's for temporary files")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				return runTokens(ctx, env, *dir)
			}
		},
	}
}

// tokenBench is the state of a run.
type tokenBench struct {
	*bench  // its processes and directories
	tokens  int
	ahead   int // rounds whose tokens come in one call
	private *rsa.PrivateKey
}

func runTokens(ctx context.Context, env experiment.Env, dir string) (_ *experiment.Result, err error) {
	busy, repeats := loadAverage(), env.RepeatsOr(5)
	b := &tokenBench{bench: &bench{}, tokens: 4096, ahead: 16}
	if env.Quick {
		repeats, b.tokens = env.RepeatsOr(2), 256
	}
	if b.work, err = os.MkdirTemp(dir, "hushgrad-tokens-"); err != nil {
		return nil, fmt.Errorf("--dir: %w", err)
	}
	defer func() { err = errors.Join(err, b.close()) }()
	env.Progress.Describe("build")
	if b.binary, err = Build(ctx, b.work); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	all := b.measurements()
	env.Progress.Describe("tokens")
	env.Progress.Grow(repeats * len(all))
	for repeat := range repeats {
		for _, m := range all {
			values, err := env.Checkpoint.Do(fmt.Sprintf("%s, %s, %d", m.what, m.setting, repeat), func() ([]float64, error) { return m.measure(ctx) })
			if err != nil {
				return nil, errors.Join(ctx.Err(), fmt.Errorf("%s, %s: %w", m.what, m.setting, err))
			}
			m.values = append(m.values, values)
			env.Progress.Step()
		}
	}
	return reportTokens(all, b.notes(repeats, busy)), nil
}

// measurements are what is measured, in the order of the table. Every one returns a rate and the seconds of processor time for one token,
// and the clients' where there are some.
func (b *tokenBench) measurements() []*measurement {
	ask := func(t issuing, aim float64) *measurement {
		m := &measurement{what: "issuer, journal on disk", setting: t.String(), unit: "tokens/s", aim: aim, reports: t.rounds}
		m.measure = func(ctx context.Context) ([]float64, error) {
			return b.anew(func(dir string) ([]float64, error) {
				got, err := t.measure(ctx, b.binary, dir)
				return []float64{got.rate, got.server, got.clients}, err
			})
		}
		return m
	}
	return []*measurement{
		{what: "crypto/rsa", setting: fmt.Sprintf("bare signatures of %d bits, 1 processor", admit.KeyBits), unit: "signatures/s", measure: b.bare},
		ask(issuing{b.tokens, 1}, 0),
		ask(issuing{b.tokens / b.ahead, b.ahead}, tokensPerCore),
		{what: "keys", setting: "the two of a round, 1 processor", unit: "rounds/s", measure: b.keys},
	}
}

// timed returns the rate of n pieces of work by the processor time of this process, and the time of one.
func timed(n int, do func() error) ([]float64, error) {
	before, err := processorSeconds(os.Getpid())
	if err != nil {
		return nil, err
	}
	for range n {
		if err := do(); err != nil {
			return nil, err
		}
	}
	after, err := processorSeconds(os.Getpid())
	each := (after - before) / float64(n)
	return []float64{1 / each, each}, err
}

// bare signs without anything around it.
func (b *tokenBench) bare(context.Context) (_ []float64, err error) {
	if b.private == nil {
		if b.private, err = rsa.GenerateKey(rand.Reader, admit.KeyBits); err != nil {
			return nil, err
		}
	}
	hash := make([]byte, sha512.Size384)
	return timed(b.tokens/4, func() error {
		_, err := rsa.SignPSS(rand.Reader, b.private, crypto.SHA384, hash, nil)
		return err
	})
}

// keys makes the keys of rounds. How long one takes is a matter of luck.
func (b *tokenBench) keys(context.Context) ([]float64, error) {
	return timed(max(b.tokens/256, 2), func() error {
		for range 2 {
			if _, err := rsa.GenerateKey(rand.Reader, admit.KeyBits); err != nil {
				return err
			}
		}
		return nil
	})
}

func reportTokens(all []*measurement, notes []string) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"what", "setting", "unit", "median", "low", "high", "us_each", "per_second_and_core", "client_us_each", "tokens_per_call"},
		Notes:   notes,
	}
	for _, m := range all {
		got, each := m.spread(0), m.spread(1)
		row := experiment.Row{m.what, m.setting, m.unit, got.median, got.low, got.high, 1e6 * each.median, 1 / each.median, nil, nil}
		if m.knows(2) {
			row[8], row[9] = 1e6*m.spread(2).median, m.reports
		}
		r.Rows = append(r.Rows, row)
		if m.aim > 0 {
			beside := each.median / all[0].spread(1).median
			r.Verdicts = append(r.Verdicts, experiment.Verdict{
				Claim:  fmt.Sprintf("%s, %s: at least %s tokens a second for each core", m.what, m.setting, plain(m.aim)),
				Holds:  1/each.median >= m.aim,
				Detail: fmt.Sprintf("%s, from %s to %s", plain(1/each.median), plain(1/each.high), plain(1/each.low)),
			}, experiment.Verdict{
				Claim:  fmt.Sprintf("%s, %s: a token takes at most %g times the time of a bare signature of crypto/rsa", m.what, m.setting, bareSignatures),
				Holds:  beside <= bareSignatures,
				Detail: fmt.Sprintf("%.3g times", beside),
			})
		}
	}
	return r
}

// notes say how the numbers were made.
func (b *tokenBench) notes(repeats int, busy float64) []string {
	return []string{
		fmt.Sprintf("Medians of %d repeats; low and high are the smallest and the largest. The issuer gives %d tokens in a repeat, under keys of %d bits.", repeats, b.tokens, admit.KeyBits),
		fmt.Sprintf("The issuer is a process of its own. It and the clients share %d processors. Clients are %d callers over %d connections on loopback TCP without TLS. They blind their messages before, and verify the tokens after.", runtime.NumCPU(), callers, connections),
		"µs are the processor time of the issuer for a token, also when other work makes it wait: it admits the client, signs, and keeps a record on disk. Rates for a core follow from them.",
		"Bare signatures and keys are made by one processor, and their rates are for its processor time.",
		fmt.Sprintf("The load average of the machine was %.1f before the run and %.1f after it, the measurement included. Other work makes rates too low: two threads that share a core slow each other down.", busy, loadAverage()),
	}
}
