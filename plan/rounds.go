package plan

import (
	"cmp"
	"context"
	"errors"

	"github.com/hushgrad/hushgrad/baseline"
)

// Rounds with a shuffler. More of them have less noise at the same budget, and come near the noise of a trusted server: from 120 to 240 it falls
// by a twelfth.
const leastRounds, mostRounds = 30, 120

// What twice as many reports of a client must be worth: so much less of a smooth loss, or less noise of the run than this share. A tenth of the noise is
// what a tenth more clients take away.
const (
	worthwhileLoss  = 0.003
	worthwhileNoise = 0.9
)

// opensRounds says that the number of rounds is planned: for a smooth loss, whose bound tells what more of them are worth, and for softmax regression
// on public examples, where the noise tells it. A run from a public model ends where it does whatever the number.
func (q Request) opensRounds() bool {
	trust := cmp.Or(q.Trust, q.defaultTrust())
	return (q.Smooth != nil || q.softmaxFromZeros()) && q.Rounds == 0 && q.Cohort == 0 && q.Epsilon == 0 && trust == Shuffler && !IsSum(q.Mechanism) && q.Mechanism != baseline.None
}

// softmaxFromZeros says that the run is softmax regression, rehearsed on public examples, and starts from no public model.
func (q Request) softmaxFromZeros() bool { return q.Examples != nil && q.ZeroShot == 0 }

// openRounds plans the number of rounds, which is left open. Rehearsals of the fewest rounds say which mechanism the number is planned for.
func (q Request) openRounds(ctx context.Context) (*Run, error) {
	if q.Smooth != nil {
		return q.doubled(ctx)
	}
	least := q
	least.Rounds = leastRounds
	run, err := least.Run(ctx)
	if run == nil {
		return nil, err
	}
	few := q
	few.Examples, few.Force, few.Mechanism = nil, true, run.Mechanism
	if few.Public == nil {
		var err error
		if few.Public, err = q.Examples.Sample(); err != nil {
			return nil, err
		}
	}
	most, failed := few.doubled(ctx)
	if failed != nil {
		return nil, failed
	}
	if most.Rounds > leastRounds {
		all := few // the alternatives, which are not rehearsed again
		all.Mechanism, all.Rounds = q.Mechanism, most.Rounds
		considered, failed := all.run(ctx)
		if failed != nil {
			return nil, failed
		}
		q.Mechanism, q.Rounds = run.Mechanism, most.Rounds
		if run, err = q.Run(ctx); run != nil {
			run.Schedule.putBefore(considered.Schedule.Considered)
		}
	}
	if run != nil {
		run.doubled = true
	}
	return run, err
}

// doubled runs the request with twice as many rounds as long as that is worthwhile.
func (q Request) doubled(ctx context.Context) (best *Run, err error) {
	for q.Rounds = leastRounds; q.Rounds <= mostRounds; q.Rounds *= 2 {
		run, failed := q.Run(ctx)
		switch {
		case ctx.Err() != nil || failed != nil && best == nil && !errors.Is(failed, ErrNoise):
			return nil, failed
		case best != nil && err == nil && (failed != nil || !run.worthwhile(best)):
			return best, nil
		}
		best, err = run, failed
	}
	return best, err
}

// worthwhile says whether a run with twice as many rounds is worth its reports.
func (run *Run) worthwhile(half *Run) bool {
	if run.smooth != nil {
		return run.excess <= half.excess-worthwhileLoss
	}
	return run.Schedule.Considered[0].NoiseOfRun <= worthwhileNoise*half.Schedule.Considered[0].NoiseOfRun
}
