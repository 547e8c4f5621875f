package pipeline

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/hushgrad/hushgrad/beam/keyedcsv"
	"github.com/hushgrad/hushgrad/beam/ranges"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/reportfile"
)

// scannedFile is a file that was read once and found whole.
type scannedFile struct {
	Name   string
	CSV    bool
	IDs    bool   // the CSV has ids
	Round  []byte // the digest of its round; empty for CSV
	Seeded bool
	Whole  bool // it cannot be read from the middle
	Ranges []ranges.Range
}

// piece is what one worker reads of a file: a range, or all of them where a file is read from its
// beginning only.
type piece struct {
	Name   string
	CSV    bool
	IDs    bool
	Round  []byte
	Seeded bool
	Ranges []ranges.Range // one behind the other
}

// scanFn reads a file to its end, and emits it under its SHA-256.
type scanFn struct {
	Rounds Rounds

	rounds map[[sha256.Size]byte]fl.Round
}

// Setup reads the rounds.
func (f *scanFn) Setup() (err error) {
	f.rounds, err = f.Rounds.byDigest()
	return err
}

// ProcessElement scans the file of a name.
func (f *scanFn) ProcessElement(ctx context.Context, name string, emit func(string, scannedFile)) error {
	in, err := open(ctx, name, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	found, digest, err := f.scan(in)
	_, seeks := in.(io.Seeker)
	if err = errors.Join(err, in.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	found.Name, found.Whole = name, !seeks
	emit(key(digest), *found)
	return nil
}

// scan finds out what kind of file it is and reads it.
func (f *scanFn) scan(file io.Reader) (*scannedFile, [sha256.Size]byte, error) {
	in := bufio.NewReader(file)
	head, err := in.Peek(reportfile.HeadBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, [sha256.Size]byte{}, err
	}
	if keyedcsv.Is(head) {
		all, ids, err := keyedcsv.Scan(in)
		if err != nil {
			return nil, [sha256.Size]byte{}, err
		}
		return &scannedFile{CSV: true, IDs: ids, Ranges: all.Ranges}, all.Digest, nil
	}
	digest, err := reportfile.RoundOf(head)
	if err != nil {
		return nil, digest, err
	}
	round, ok := f.rounds[digest]
	if !ok {
		return nil, digest, fl.Invalid("file", fmt.Sprintf("reports of a round with digest %x…", digest[:8]), "must hold reports of one of the rounds")
	}
	all, err := ranges.Scan(in, round)
	if err != nil {
		return nil, digest, err
	}
	return &scannedFile{Round: slices.Clone(digest[:]), Seeded: all.Seeded, Ranges: all.Ranges}, all.Digest, nil
}

// open opens a file at an offset. A file system that cannot seek reads what is before it.
func open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	in, err := fs.OpenRead(ctx, name)
	if err != nil || offset == 0 {
		return in, err
	}
	if seeker, ok := in.(io.Seeker); ok {
		_, err = seeker.Seek(offset, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, in, offset)
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// onceFn emits the ranges of files, each of a content of its own.
type onceFn struct{}

// ProcessElement gets all files of one SHA-256.
func (f *onceFn) ProcessElement(digest string, files func(*scannedFile) bool, emit func(piece)) error {
	var first, other scannedFile
	files(&first)
	if files(&other) {
		names := []string{first.Name, other.Name}
		slices.Sort(names) // the runner's order is any
		return fmt.Errorf("%s: %w", names[1], fl.Invalid("file", names[1], "must be counted once, and has the reports of %s", names[0]))
	}
	size := 1
	if first.Whole {
		size = max(1, len(first.Ranges))
	}
	for ranges := range slices.Chunk(first.Ranges, size) {
		emit(piece{first.Name, first.CSV, first.IDs, first.Round, first.Seeded, ranges})
	}
	return nil
}
