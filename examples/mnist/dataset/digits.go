package dataset

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/glyph"
	"golang.org/x/sync/errgroup"
)

// side is the height and width of a generated picture, that of MNIST.
const side = glyph.Side

// The splits of the generated pictures; part of the key of each one.
const (
	splitTrain  = 1
	splitTest   = 2
	splitPublic = 3 // features are fitted on it; no Data has it
)

// Generate draws o.TrainSize and o.TestSize digits of 28×28 pixels (0: 60 000
// and 10 000) from the outlines of the Go fonts, bent at random and centred by
// mass like MNIST. Each class is as likely as any other.
//
// Each picture has a random stream of its own, ChaCha8 keyed with the seed, the
// split and its index. So the result depends on o.Seed only, not on the number
// of processors; a smaller set is the start of a larger one; and train and test
// are independent. Another processor architecture may round otherwise and
// change a grey value by one step of 1/255.
//
// O(pixels); about 25 µs for a picture on one core, on all cores at once.
// It returns an error when o is out of range or names another source, and when ctx
// ends (wrapping ctx.Err()).
func Generate(ctx context.Context, o Options) (*Data, error) {
	if o.Source != Generated {
		return nil, fmt.Errorf("dataset: %w", fl.Invalid("source", o.Source, "must be empty for generated digits"))
	}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	data, err := generate(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	return data, nil
}

func generate(ctx context.Context, o Options) (*Data, error) {
	outlines, err := glyph.Digits()
	if err != nil {
		return nil, fmt.Errorf("fonts: %w", err)
	}
	o.logf("drawing digits from the Go fonts")
	split := func(what string, key uint64, size, all int) (*Set, error) {
		if size == 0 {
			size = all
		}
		im, labels, err := drawAll(ctx, &outlines, o.Seed, key, size, runtime.GOMAXPROCS(0))
		if err != nil {
			return nil, err
		}
		return newSet(what, im, labels, size)
	}
	train, err := split("train", splitTrain, o.TrainSize, maxTrain)
	if err != nil {
		return nil, err
	}
	test, err := split("test", splitTest, o.TestSize, maxTest)
	if err != nil {
		return nil, err
	}
	return &Data{
		Train:  train,
		Test:   test,
		Source: SourceGenerated,
		Note:   fmt.Sprintf("digits drawn from the Go fonts with seed %d: accuracy on them is not comparable with MNIST", o.Seed),
	}, nil
}

// drawAll draws the first n pictures of one split with a number of workers.
func drawAll(ctx context.Context, outlines *[classes][]glyph.Outline, seed, split uint64, n, workers int) (*Images, []uint8, error) {
	im := &Images{Count: n, Rows: side, Cols: side, Pixels: make([]uint8, n*side*side)}
	labels := make([]uint8, n)
	const batch = 64 // pictures that a worker takes at a time, about a millisecond
	var taken atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			p := glyph.NewPen()
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
					rng := stream(seed, split, uint64(i))
					digit := rng.IntN(classes)
					s := glyph.RandomStyle(rng, len(outlines[digit]))
					p.Draw(outlines[digit][s.Face], &s)
					p.Spoil(&s, rng)
					p.Develop(im.Pixels[i*side*side : (i+1)*side*side])
					labels[i] = uint8(digit)
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
func stream(seed, split, index uint64) *rand.Rand {
	var key [32]byte
	copy(key[:8], "digits/1") // this use, and its version
	binary.LittleEndian.PutUint64(key[8:], seed)
	binary.LittleEndian.PutUint64(key[16:], split)
	binary.LittleEndian.PutUint64(key[24:], index)
	return rand.New(rand.NewChaCha8(key))
}
