package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/hushgrad/hushgrad/beam/keyedcsv"
	"github.com/hushgrad/hushgrad/beam/ranges"
	"github.com/hushgrad/hushgrad/fl"
)

// readFn reads ranges and emits one batch for every round that it meets, or one for every report
// that has an id.
type readFn struct{}

// ProcessElement reads the ranges of a piece.
func (f *readFn) ProcessElement(ctx context.Context, p piece, plain, named func(string, Batch)) error {
	if len(p.Ranges) == 0 {
		return nil
	}
	in, err := open(ctx, p.Name, p.Ranges[0].Offset)
	if err == nil {
		for _, r := range p.Ranges {
			if err == nil {
				err = p.read(in, r, plain, named)
			}
		}
		err = errors.Join(err, in.Close())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}

func (p piece) read(in io.Reader, r ranges.Range, plain, named func(string, Batch)) error {
	if p.CSV {
		return p.readCSV(in, r, plain, named)
	}
	b := Batch{Seeded: p.Seeded, File: p.Name}
	if copy(b.Round[:], p.Round) != len(b.Round) {
		return fl.Invalid("range", fmt.Sprintf("a round of %d bytes", len(p.Round)), "must have %d, its digest", len(b.Round))
	}
	var err error
	if b.Reports, b.Offsets, err = r.Read(in); err != nil {
		return err
	}
	plain(key(b.Round), b)
	return nil
}

func (p piece) readCSV(in io.Reader, of ranges.Range, plain, named func(string, Batch)) error {
	reports, err := keyedcsv.Read(in, of, p.IDs)
	if err != nil {
		return err
	}
	rounds := map[[sha256.Size]byte]*Batch{}
	for _, r := range reports {
		if p.IDs {
			named(key(r.Round)+r.ID, Batch{Round: r.Round, File: p.Name, Reports: [][]byte{r.Report}, Offsets: []int64{r.Offset}})
			continue
		}
		b := rounds[r.Round]
		if b == nil {
			b = &Batch{Round: r.Round, File: p.Name}
			rounds[r.Round] = b
		}
		b.Reports, b.Offsets = append(b.Reports, r.Report), append(b.Offsets, r.Offset)
	}
	for _, b := range rounds {
		plain(key(b.Round), *b)
	}
	return nil
}

// distinctFn leaves one report of those with the same id in a round.
type distinctFn struct{}

// ProcessElement gets all reports of one round and id. They must have the same bytes: a client that
// sent again has sent the same.
func (f *distinctFn) ProcessElement(_ string, reports func(*Batch) bool, emit func(string, Batch)) error {
	var first, other Batch
	reports(&first)
	for reports(&other) {
		if len(first.Reports) != 1 || len(other.Reports) != 1 || !bytes.Equal(first.Reports[0], other.Reports[0]) {
			return fmt.Errorf("%s: %w", other.File, fl.Invalid("id", fmt.Sprintf("two reports, at byte %d, and at byte %d of %s", other.Offsets[0], first.Offsets[0], first.File), "must be one report, sent again or not"))
		}
	}
	emit(key(first.Round), first)
	return nil
}
