package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/reportfile"
)

// counting adds files of reports up.
type counting struct {
	round           fl.Round
	mechanism       fl.Mechanism
	aggregator      fl.Aggregator
	files           map[[sha256.Size]byte]string // names of those that were counted
	reports, seeded int64
}

// add counts the reports of one file. After an error the sum is of no use.
func (c *counting) add(ctx context.Context, name string, in io.Reader) error {
	file, err := reportfile.NewReader(in, c.round)
	if err != nil {
		return err
	}
	const batchReports = 4096
	before := c.reports
	for end := false; !end; {
		var batch [][]byte
		for len(batch) < batchReports {
			report, err := file.Next()
			if errors.Is(err, io.EOF) {
				end = true
				break
			}
			if err != nil {
				return err
			}
			batch = append(batch, report)
		}
		if err := errors.Join(ctx.Err(), fl.AddBatch(c.mechanism, c.aggregator, batch)); err != nil {
			return err
		}
		c.reports += int64(len(batch))
	}
	if other, twice := c.files[file.Digest()]; twice {
		return fl.Invalid("file", name, "must be counted once, and has the reports of %s", other)
	}
	c.files[file.Digest()] = name
	if file.Seeded() {
		c.seeded += c.reports - before
	}
	return nil
}
