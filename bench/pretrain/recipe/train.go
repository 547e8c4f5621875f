package recipe

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/hushgrad/hushgrad/internal/glyph"
	"github.com/hushgrad/hushgrad/trainer"
	"gonum.org/v1/gonum/floats"
)

// A Size is the size of a network: see trainer.NewEmbedder.
type Size struct {
	Name     string
	Channels [3]int
	Width    int
}

// The sizes that are trained.
var (
	Small = Size{Name: "small", Channels: [3]int{8, 16, 32}, Width: 64}
	Big   = Size{Name: "big", Channels: [3]int{16, 32, 64}, Width: 128}
)

// Model returns the classifier of pictures that is trained.
func (s Size) Model(of Pictures) (*trainer.Model, error) {
	in := trainer.Input{Channels: 1, Height: glyph.Side, Width: glyph.Side}
	classes, _ := of.Classes()
	return trainer.NewEmbedder(in, classes, s.Channels, s.Width)
}

// Settings say how long to train, and how fast.
type Settings struct {
	Size   Size
	Stages int // each with an optimizer of its own and a lower learning rate
	Steps  int // of each stage
	Batch  int // pictures of a step; even
	Rate   float64
	Jobs   int // goroutines; the weights do not depend on it
}

// halves is the number of parts of a batch whose gradients are computed apart and then
// added in order, so that the sum is the same on any number of cores.
const halves = 2

// Train returns the weights of the size's model, trained by Adam on pictures. Each
// picture is seen once. Equal arguments give equal bits with the same build on the same kind
// of processor. keep is called with the name of a stage and what computes the weights after
// it: it may return the weights of an earlier run instead. step is called after each step.
func Train(ctx context.Context, of Pictures, s Settings, keep func(stage string, compute func() ([]float64, error)) ([]float64, error), step func()) ([]float64, error) {
	model, err := s.Size.Model(of)
	if err != nil {
		return nil, err
	}
	var parts [halves]*half
	for i := range parts {
		if parts[i], err = newHalf(model, of, s.Batch/halves); err != nil {
			return nil, err
		}
		defer parts[i].worker.Close()
	}
	params := model.Init(of.first())
	for stage := range s.Stages {
		params, err = keep(fmt.Sprintf("stage %d", stage+1), func() ([]float64, error) {
			out := append([]float64(nil), params...)
			return out, trainStage(ctx, out, s, stage, parts, step)
		})
		if err != nil {
			return nil, err
		}
	}
	return params, nil
}

// rate is the learning rate of a stage: half a cosine from the first rate to almost nothing.
func (s Settings) rate(stage int) float64 {
	return s.Rate * (0.01 + 0.99*(1+math.Cos(math.Pi*float64(stage)/float64(s.Stages)))/2)
}

func trainStage(ctx context.Context, params []float64, s Settings, stage int, parts [halves]*half, step func()) error {
	adam, err := trainer.NewOptimizer(trainer.OptimizerConfig{Name: "adam", LearningRate: s.rate(stage)}, len(params))
	if err != nil {
		return err
	}
	limit := make(chan struct{}, s.Jobs)
	for i := range s.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		first := uint64(stage*s.Steps+i) * uint64(s.Batch)
		var wait sync.WaitGroup
		for k, h := range parts {
			wait.Go(func() {
				limit <- struct{}{}
				h.compute(params, first+uint64(k*len(h.x)))
				<-limit
			})
		}
		wait.Wait()
		for _, h := range parts {
			if h.err != nil {
				return h.err
			}
		}
		sum := parts[0].gradient
		floats.Add(sum, parts[1].gradient)
		floats.Scale(1./halves, sum)
		if err := adam.Step(params, sum); err != nil {
			return err
		}
		step()
	}
	return nil
}

// half computes the gradient of half a batch.
type half struct {
	worker   *trainer.Worker
	draw     painter
	x        [][]float64
	labels   []int
	gradient []float64
	loss     float64
	err      error
}

func newHalf(model *trainer.Model, of Pictures, n int) (*half, error) {
	worker, err := model.NewWorker(n)
	if err != nil {
		return nil, err
	}
	h := &half{worker: worker, draw: of.painter(false), x: make([][]float64, n), labels: make([]int, n), gradient: make([]float64, model.Dim())}
	for i := range h.x {
		h.x[i] = make([]float64, glyph.Side*glyph.Side)
	}
	return h, nil
}

// compute draws the pictures from first on, and computes the gradient of their mean loss.
func (h *half) compute(params []float64, first uint64) {
	for i := range h.x {
		h.labels[i] = h.draw(h.x[i], first+uint64(i))
	}
	h.loss, h.err = h.worker.Gradient(h.gradient, params, h.x, h.labels)
}
