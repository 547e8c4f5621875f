package dataset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	// t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, each with ".gz" or without. One split of
	// EMNIST may be there instead: emnist-letters-train-images-idx3-ubyte and so on.
	Source string
	// Classes is the number of classes of a directory, in [2, 1000]; 0: ten. Labels are 0 to Classes−1, or
	// 1 to Classes, which then count as 0 to Classes−1: they begin with 1 where a label is Classes.
	Classes int
	// Transpose swaps rows and columns of the pictures of a directory. EMNIST's files need it.
	Transpose bool
	// TrainSize and TestSize are the numbers of images wanted, the first ones of the files, or of the generated
	// ones, which are 60000 and 10000 at most. 0 means all of them.
	TrainSize, TestSize int
	// Seed chooses the generated pictures. It has no effect on MNIST.
	Seed uint64
	// Log, if not nil, gets a line for each thing that Load does while it does it.
	Log io.Writer
}

func (o Options) check() error {
	train, test := maxTrain, maxTest
	if o.directory() {
		train, test = maxItems, maxItems
	}
	switch {
	case o.TrainSize < 0 || o.TrainSize > train:
		return fl.Invalid("train size", o.TrainSize, "must be in [0, %d]", train)
	case o.TestSize < 0 || o.TestSize > test:
		return fl.Invalid("test size", o.TestSize, "must be in [0, %d]", test)
	case o.Classes != 0 && (o.Classes < leastClasses || o.Classes > mostClasses):
		return fl.Invalid("--classes", o.Classes, "must be in [%d, %d]", leastClasses, mostClasses)
	case !o.directory() && o.Classes != 0 && o.Classes != digitClasses:
		return fl.Invalid("--classes", o.Classes, "must be %d without a directory of your own, --data DIR", digitClasses)
	case !o.directory() && o.Transpose:
		return fl.Invalid("--transpose", o.Transpose, "needs pictures of your own, --data DIR")
	}
	return nil
}

// directory says whether the pictures are files of the caller's.
func (o Options) directory() bool {
	return o.Source != Generated && o.Source != Textures && o.Source != Download
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
	if info, err := os.Stat(o.Source); err != nil || !info.IsDir() {
		return nil, fl.Invalid("--data", o.Source, "must be a directory with MNIST's four idx files, or one of %s, %s and \"\" for generated digits", Download, Textures)
	}
	o.logf("reading idx files in %s", o.Source)
	names, emnist, err := m.names(o.Source)
	if err != nil {
		return nil, fmt.Errorf("--data %s: %w", o.Source, err)
	}
	data, err := readFour(ctx, o, func(i int) (io.ReadCloser, error) { return openEither(o.Source, names[i]) })
	if err != nil {
		return nil, fmt.Errorf("--data %s: %w", o.Source, err)
	}
	data.Note = fmt.Sprintf("%sfiles read from %s", cmp.Or(emnist, "MNIST "), o.Source) + data.Note
	switch {
	case o.Transpose:
		data.Note += "; rows and columns of pictures are swapped"
	case emnist != "":
		data.Note += "; EMNIST's files hold pictures with rows and columns swapped, which features do not expect: --transpose swaps them back"
	}
	return data, nil
}

// names returns the names of the four files in a directory: MNIST's, or EMNIST's where only one split is there and none of MNIST's files.
// emnist is then what begins them.
func (m *mnist) names(dir string) (names [4]string, emnist string, err error) {
	for i, f := range m.files {
		names[i] = f.name
	}
	entries, _ := os.ReadDir(dir) // what is wrong with a directory shows when its files are opened
	const rest = "train-images-idx3-ubyte"
	for _, entry := range entries {
		split, _, found := strings.Cut(entry.Name(), rest)
		switch {
		case found && split == "":
			return names, "", nil
		case !found || !strings.HasPrefix(split, "emnist-") || split == emnist:
		case emnist != "":
			return names, "", fl.Invalid("files", emnist+", "+split, "must be of one split of EMNIST: move the others to another directory")
		default:
			emnist = split
		}
	}
	if emnist == "" {
		return names, "", nil
	}
	for i := range names {
		names[i] = emnist + strings.Replace(names[i], "t10k-", "test-", 1)
	}
	return names, emnist, nil
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
	classes := cmp.Or(o.Classes, digitClasses)
	train, err := readPair(ctx, "train", o.TrainSize, classes, open, 0)
	if err != nil {
		return nil, err
	}
	test, err := readPair(ctx, "test", o.TestSize, classes, open, 2)
	if err != nil {
		return nil, err
	}
	if train.Rows != test.Rows || train.Cols != test.Cols {
		return nil, fl.Invalid("test image size", fmt.Sprintf("%d×%d", test.Rows, test.Cols), "must be the train images' size, %d×%d", train.Rows, train.Cols)
	}
	data := &Data{Train: train, Test: test, Source: SourceMNIST}
	if data.Note, err = number(train.Classes, train.Labels, test.Labels); err != nil {
		return nil, err
	}
	if o.Transpose {
		train.transpose()
		test.transpose()
	}
	return data, nil
}

// number makes labels count from 0, and refuses those that are not in the declared classes.
func number(classes int, train, test []int) (note string, err error) {
	least := min(slices.Min(train), slices.Min(test))
	most := max(slices.Max(train), slices.Max(test))
	first := 0
	if most == classes && least > 0 {
		first, note = 1, fmt.Sprintf("; labels 1 to %d count as classes 0 to %d", classes, classes-1)
	}
	for k, labels := range [][]int{train, test} {
		for i := range labels {
			if labels[i] >= classes+first {
				what := []string{"train", "test"}[k]
				need := most + 1 - min(least, 1) // labels that begin with 1 need no class for 0
				return "", fl.Invalid(fmt.Sprintf("%s label %d", what, i), labels[i], "must be in [0, %d], or [1, %d] where no label is 0: for more classes type --classes %d", classes-1, classes, need)
			}
			labels[i] -= first
		}
	}
	return note, nil
}

// readPair reads the images in file i and their labels in file i+1.
func readPair(ctx context.Context, what string, size, classes int, open func(i int) (io.ReadCloser, error), i int) (*Set, error) {
	var im *Images
	var labels []int
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
	return newSet(what, im, labels, size, classes)
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
