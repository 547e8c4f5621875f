package scale

import (
	"context"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"github.com/hushgrad/hushgrad/bench/serving"
	"github.com/hushgrad/hushgrad/server/client"
)

// finish closes the round, sends what comes late, and compares the estimate with the truth. It
// returns what numbers lists.
func (o *outcome) finish(ctx context.Context, server *serving.Process, operator *client.Operator, data string) (values []float64, err error) {
	if o.journal, err = bytesBelow(data); err != nil {
		return nil, err
	}
	began := time.Now()
	if err := operator.CloseRound(ctx, o.round.ID); err != nil {
		return nil, err
	}
	estimate, err := operator.Estimate(ctx, o.round.ID, true)
	if err != nil {
		return nil, err
	}
	o.closing = time.Since(began).Seconds()
	refused, err := o.sendLate(ctx, server)
	if err != nil {
		return nil, err
	}
	again, err := operator.Estimate(ctx, o.round.ID, false)
	if err != nil {
		return nil, err
	}
	o.refused, o.counted, o.predicted = float64(refused), float64(again.Reports), estimate.NoiseNorm
	mean := again.Mean()
	truth, told := o.truth(&o.tally)
	squares := 0.0
	for j, v := range mean.Value {
		expected := told[j]
		if j == target {
			expected += o.liars() / o.sent * o.gain
		}
		squares += (v - expected) * (v - expected)
	}
	o.noise = math.Sqrt(squares)
	o.pull, o.pullStdErr = mean.Value[target]-truth[target], mean.StdErr[target]
	for _, v := range o.numbers() {
		values = append(values, *v)
	}
	return values, nil
}

// expectedPull is how far the lies move the target, in expectation: each liar's report counts as
// the gain, where its gradient has another entry.
func (o *outcome) expectedPull() float64 {
	truth, told := o.truth(&o.tally)
	return o.liars()/o.sent*o.gain - (truth[target] - told[target])
}

// pullBound bounds how far lies move any coordinate, in expectation, whatever they are: a report
// counts as ±gain or 0, and a gradient has an entry of at most the largest of the pool.
func (o *outcome) pullBound() float64 {
	largest := 0.0
	for _, grad := range o.gradients {
		for _, v := range grad {
			largest = max(largest, math.Abs(v))
		}
	}
	return o.liars() / o.sent * (o.gain + largest)
}

// bytesBelow is the size of all files in a directory.
func bytesBelow(dir string) (total float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += float64(info.Size())
		}
		return err
	})
	return total, err
}
