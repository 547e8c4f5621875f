package dataset

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// The splits of generated pictures; part of the key of each one.
const (
	splitTrain  = 1
	splitTest   = 2
	splitPublic = 3 // features are fitted on it; no Data has it
)

// painter draws one picture into dst and returns its class. All that is random comes from rng.
type painter func(dst []uint8, rng *rand.Rand) (class int)

// law is a kind of generated pictures.
type law struct {
	key     string // 8 bytes: the kind and its version
	classes int
	painter func() painter
}

// drawBoth draws the train and the test set that o asks for.
func drawBoth(ctx context.Context, o Options, l law, note string) (*Data, error) {
	split := func(what string, key uint64, size, all int) (*Set, error) {
		size = cmp.Or(size, all)
		im, labels, err := drawAll(ctx, l, o.Seed, key, size, runtime.GOMAXPROCS(0))
		if err != nil {
			return nil, err
		}
		return newSet(what, im, labels, size, l.classes)
	}
	train, err := split("train", splitTrain, o.TrainSize, maxTrain)
	if err != nil {
		return nil, err
	}
	test, err := split("test", splitTest, o.TestSize, maxTest)
	if err != nil {
		return nil, err
	}
	return &Data{Train: train, Test: test, Source: SourceGenerated, Note: note}, nil
}

// drawAll draws the first n pictures of one split with a number of workers.
func drawAll(ctx context.Context, l law, seed, split uint64, n, workers int) (*Images, []int, error) {
	im := &Images{Count: n, Rows: side, Cols: side, Pixels: make([]uint8, n*side*side)}
	labels := make([]int, n)
	const batch = 64 // pictures that a worker takes at a time, a few milliseconds
	var taken atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			paint := l.painter()
			for {
				end := int(taken.Add(batch))
				start := end - batch
				if start >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				for i := start; i < min(end, n); i++ {
					labels[i] = paint(im.Pixels[i*side*side:(i+1)*side*side], l.stream(seed, split, uint64(i)))
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	return im, labels, nil
}

// stream returns the random numbers of one picture.
func (l law) stream(seed, split, index uint64) *rand.Rand {
	var key [32]byte
	copy(key[:8], l.key)
	binary.LittleEndian.PutUint64(key[8:], seed)
	binary.LittleEndian.PutUint64(key[16:], split)
	binary.LittleEndian.PutUint64(key[24:], index)
	return rand.New(rand.NewChaCha8(key))
}
