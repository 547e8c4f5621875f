package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/translog"
)

// publishedEstimate is an estimate that somebody published, in the files of hushgrad rounds export.
type publishedEstimate struct {
	dir             string
	round, estimate translog.Digest
	other, entry    int64 // of the log: another estimate of the round, and this one; -1 for none
}

// readPublished reads a round and its estimate from a directory. It takes the memory of a line.
func readPublished(dir string) (*publishedEstimate, error) {
	p := &publishedEstimate{dir: dir, other: -1, entry: -1}
	r, err := readRound(filepath.Join(dir, "round.json"), nil)
	if err != nil {
		return nil, fmt.Errorf("--published: %w", err)
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, fmt.Errorf("--published: %w", err)
	}
	p.round = digest
	f, err := os.Open(filepath.Join(dir, "estimates.csv"))
	if err != nil {
		return nil, fmt.Errorf("--published: %w", err)
	}
	defer f.Close()
	if p.estimate, err = digestOfEstimates(f); err != nil {
		return nil, fmt.Errorf("--published: %s: %w", f.Name(), err)
	}
	return p, nil
}

// digestOfEstimates returns translog.EstimateDigest of what estimates.csv has: a line of names, and for each
// coordinate its key and its numbers in the digest's order.
func digestOfEstimates(in io.Reader) (translog.Digest, error) {
	lines := csv.NewReader(in)
	lines.ReuseRecord = true
	if _, err := lines.Read(); err != nil {
		return translog.Digest{}, fl.Invalid("estimates", "no line of names", "must be estimates.csv of hushgrad rounds export: %v", err)
	}
	h := sha256.New()
	var row []byte
	for {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return translog.Digest(h.Sum(nil)), nil
		}
		if err != nil {
			return translog.Digest{}, err
		}
		row = row[:0]
		for _, field := range line[1:] {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return translog.Digest{}, fl.Invalid("estimates", field, "must be numbers behind the key")
			}
			row = binary.LittleEndian.AppendUint64(row, math.Float64bits(v))
		}
		_, _ = h.Write(row) // never fails
	}
}

// compare looks whether an entry is about this estimate.
func (p *publishedEstimate) compare(e translog.Logged) {
	switch {
	case e.Kind != translog.Release || e.Description != p.round:
	case e.SHA256 == p.estimate:
		p.entry = e.Index
	default:
		p.other = e.Index
	}
}

// check returns an error unless the log has the estimate.
func (p *publishedEstimate) check() error {
	switch {
	case p.entry >= 0:
		return nil
	case p.other >= 0:
		return fl.Invalid("--published", p.dir, "must have the estimate that the log has: entry %d is another one of this round", p.other)
	}
	return fl.Invalid("--published", p.dir, "must have an estimate that the log has: it has none of this round")
}
