package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Pictures is the number of training images in MNIST, and the most that Generate draws: what clients of examples/mnist share.
const Pictures = 60000

const (
	maxTrain = Pictures
	maxTest  = 10000
)

// The values of Options.Source beside directories.
const (
	// Generated: digits drawn from fonts, without a look at network or files.
	Generated = ""
	// Textures: clothes, shoes and bags of textured cloth in ten classes, drawn by a law without a look at
	// network or files. They stand in for textured pictures, where digits are too plain. A directory of that
	// name is "./textures".
	Textures = "textures"
	// Download: MNIST from the user's cache directory, or from a public mirror. A
	// directory of that name is "./download".
	Download = "download"
)

// Options says what Load loads. The zero value is usable: as many digits as MNIST
// has, generated from seed 0.
type Options struct {
	// Source is Generated, Textures, Download, or a directory with the four MNIST files,
	// gzip-compressed or not: train-images-idx3-ubyte, train-labels-idx1-ubyte,
	// t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, each with ".gz" or without.
	Source string
	// TrainSize and TestSize are the numbers of images wanted, in [0, 60000]
	// and [0, 10000]: the first ones of the files, or of the generated ones. 0
	// means all of them.
	TrainSize, TestSize int
	// Seed chooses the generated pictures. It has no effect on MNIST.
	Seed uint64
	// Log, if not nil, gets a line for each thing that Load does while it does it.
	Log io.Writer
}

func (o Options) check() error {
	if o.TrainSize < 0 || o.TrainSize > maxTrain {
		return fl.Invalid("train size", o.TrainSize, "must be in [0, %d]", maxTrain)
	}
	if o.TestSize < 0 || o.TestSize > maxTest {
		return fl.Invalid("test size", o.TestSize, "must be in [0, %d]", maxTest)
	}
	return nil
}

func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, format+"\n", args...)
	}
}

// Load returns the images that o asks for, from o.Source and from nowhere else.
// O(pixels), and at most two minutes of downloading.
//
// It returns an error when o is out of range, when a file in a directory is missing
// (wrapping fs.ErrNotExist) or broken, when a download fails, when there are fewer
// images than asked for, and when ctx ends (wrapping ctx.Err()).
func Load(ctx context.Context, o Options) (_ *Data, err error) {
	defer prefix.Error(&err, "dataset")
	return publicMNIST().load(ctx, o)
}

func (m *mnist) load(ctx context.Context, o Options) (*Data, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	switch o.Source {
	case Generated:
		return generate(ctx, o)
	case Textures:
		return drawTextures(ctx, o)
	case Download:
		return m.download(ctx, o)
	}
	o.logf("reading MNIST files in %s", o.Source)
	data, err := readFour(ctx, o, func(i int) (io.ReadCloser, error) { return openEither(o.Source, m.files[i].name) })
	if err != nil {
		return nil, fmt.Errorf("dir %s: %w", o.Source, err)
	}
	data.Note = "MNIST files read from " + o.Source
	return data, nil
}

// download returns MNIST from the cache or a mirror.
func (m *mnist) download(ctx context.Context, o Options) (*Data, error) {
	content, origin, err := m.fetch(ctx, o.logf)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	data, err := readFour(ctx, o, func(i int) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content[i])), nil
	})
	if err != nil {
		return nil, err
	}
	data.Note = origin
	return data, nil
}

// readFour reads the files of MNIST in the order of mnist.files.
func readFour(ctx context.Context, o Options, open func(i int) (io.ReadCloser, error)) (*Data, error) {
	train, err := readPair(ctx, "train", o.TrainSize, open, 0)
	if err != nil {
		return nil, err
	}
	test, err := readPair(ctx, "test", o.TestSize, open, 2)
	if err != nil {
		return nil, err
	}
	if train.Rows != test.Rows || train.Cols != test.Cols {
		return nil, fl.Invalid("test image size", fmt.Sprintf("%d×%d", test.Rows, test.Cols), "must be the train images' size, %d×%d", train.Rows, train.Cols)
	}
	return &Data{Train: train, Test: test, Source: SourceMNIST}, nil
}

// readPair reads the images in file i and their labels in file i+1.
func readPair(ctx context.Context, what string, size int, open func(i int) (io.ReadCloser, error), i int) (*Set, error) {
	var im *Images
	var labels []uint8
	read := []func(io.Reader) error{
		func(r io.Reader) (err error) { im, err = readImages(r); return err },
		func(r io.Reader) (err error) { labels, err = readLabels(r); return err },
	}
	for j := range read {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := open(i + j)
		if err != nil {
			return nil, err
		}
		err = read[j](f)
		f.Close() // only read from: its error says nothing more
		if err != nil {
			return nil, fmt.Errorf("%s %w", what, err)
		}
	}
	return newSet(what, im, labels, size)
}

// openEither opens the file name in dir, which ends in ".gz", or the one
// without that ending when the first does not exist.
func openEither(dir, name string) (*os.File, error) {
	for _, n := range []string{name, strings.TrimSuffix(name, ".gz")} {
		f, err := os.Open(filepath.Join(dir, n))
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("%w: %w", fl.Invalid(name, "no such file", "must be there with or without \".gz\""), fs.ErrNotExist)
}
