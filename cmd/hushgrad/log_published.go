package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
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
func digestOfEstimates(in io.Reader) (digest translog.Digest, err error) {
	bounded := &lineReader{from: in, left: maxEstimateLine}
	lines := csv.NewReader(bounded)
	lines.ReuseRecord = true
	if _, err := lines.Read(); err != nil {
		return digest, fl.Invalid("estimates", "no line of names", "must be estimates.csv of hushgrad rounds export: %v", err)
	}
	digest = translog.RowsDigest(func(yield func([]float64) bool) {
		var row []float64
		for {
			bounded.left = maxEstimateLine
			var line []string
			if line, err = lines.Read(); err != nil {
				return
			}
			row = row[:0]
			for _, field := range line[1:] {
				v, wrong := strconv.ParseFloat(field, 64)
				if wrong != nil {
					err = fl.Invalid("estimates", field, "must be numbers behind the key")
					return
				}
				row = append(row, v)
			}
			if !yield(row) {
				return
			}
		}
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return digest, err
}

// maxEstimateLine bounds a line of estimates.csv, which has a key and some numbers.
const maxEstimateLine = 1 << 20

// lineReader bounds what is read for a line: whoever reads lines sets left.
type lineReader struct {
	from io.Reader
	left int
}

func (l *lineReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fl.Invalid("estimates", "a longer line", "must have at most %d bytes in a line", maxEstimateLine)
	}
	n, err := l.from.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
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
