// Command beam estimates rounds from files of reports on an Apache Beam runner. Use it where the
// files are too many for hushgrad aggregate. Start with go run . --help in this directory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/hushgrad/hushgrad/beam/pipeline"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/dictionary"
	"github.com/hushgrad/hushgrad/internal/estimates"
)

const usage = `Usage: cd beam && go run . --round ROUND --out DIR [flags] REPORTS...

Estimates rounds from files of reports on an Apache Beam runner. ROUND is a complete round of
hushgrad round; --round may be given several times, and a run then estimates each of them. REPORTS
are files of hushgrad encode, or CSV files with the header round,report or round,report,id, where
round is what --digests prints and report is base64. They may be patterns with * in quotes, and
begin with gs:// or s3://, as DIR may. A round with the id x gets DIR/x with estimates.csv,
estimates.json, estimates.parquet and one .npy file per column.

A file that was cut or damaged is an error with its name and the byte, and two files of one
content are an error, too. Reports of a CSV with the same id in a round are counted once.

--runner prism, the default, runs here. See docs/beam.md for Dataflow, Flink and Spark. Flags with
underscores are the Beam SDK's own.

`

func main() { command.Main("beam", run) }

func run(ctx context.Context, args []string, std command.Streams) error {
	var s settings
	s.bind(flag.CommandLine)
	if err := s.parse(flag.CommandLine, args, std.Out); err != nil {
		return err
	}
	beam.Init() // does not return in a worker
	if !s.verbose {
		silence()
	}
	c, err := s.config(ctx)
	if err != nil {
		return err
	}
	if s.digests {
		return printDigests(std.Out, c.Rounds)
	}
	p, scope := beam.NewPipelineWithRoot()
	if err := pipeline.Build(scope, c); err != nil {
		return err
	}
	result, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return s.failure(ctx, err)
	}
	return report(std, c, result)
}

// config reads the files that the flags name.
func (s *settings) config(ctx context.Context) (c pipeline.Config, err error) {
	if len(s.rounds) == 0 {
		return c, fl.Invalid("--round", "", "is required: a file of hushgrad round")
	}
	largest := 0
	for _, name := range s.rounds {
		r, err := readRound(name)
		if err != nil {
			return c, fmt.Errorf("--round %s: %w", name, err)
		}
		c.Rounds, largest = append(c.Rounds, r), max(largest, r.Dim)
	}
	if s.digests {
		return c, nil
	}
	if s.out == "" {
		return c, fl.Invalid("--out", "", "is required: a directory for the results")
	}
	c.Out = s.out
	keys, err := dictionary.Open(s.keys, largest)
	if err != nil {
		return c, err
	}
	c.Keys = keys.Names()
	c.Files, err = expand(ctx, s.files)
	return c, err
}

// expand lists the files that patterns match, each once.
func expand(ctx context.Context, patterns []string) (files []string, err error) {
	if len(patterns) == 0 {
		return nil, fl.Invalid("arguments", 0, "at least one file of reports is required")
	}
	for _, pattern := range patterns {
		fs, err := filesystem.New(ctx, pattern)
		if err != nil {
			return nil, fl.Invalid("arguments", pattern, "must be a path, or begin with gs:// or s3://")
		}
		found, err := fs.List(ctx, pattern)
		if err = errors.Join(err, fs.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		if len(found) == 0 {
			return nil, fl.Invalid("arguments", pattern, "must be a file, or match one")
		}
		files = append(files, found...)
	}
	return files, nil
}

// printDigests prints a line for every round.
func printDigests(w io.Writer, rounds []fl.Round) error {
	for _, r := range rounds {
		digest, err := r.Digest()
		if err == nil {
			_, err = fmt.Fprintf(w, "%x %s\n", digest, r.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// report prints what was counted, as far as the runner says it.
func report(std command.Streams, c pipeline.Config, result beam.PipelineResult) error {
	counted := map[string]map[string]int64{}
	if result != nil {
		for _, m := range result.Metrics().AllMetrics().Counters() {
			if counted[m.Namespace()] == nil {
				counted[m.Namespace()] = map[string]int64{}
			}
			counted[m.Namespace()][m.Name()] = m.Result()
		}
	}
	for _, r := range c.Rounds {
		reports, known := counted[pipeline.CounterReports][r.ID]
		if seeded := counted[pipeline.CounterSeeded][r.ID]; seeded > 0 {
			fmt.Fprintf(std.Err, "note: %s: %d of %d reports: %s\n", r.ID, seeded, reports, estimates.SeededNote)
		}
		what := fmt.Sprintf("%d reports", reports)
		if !known {
			what = "the runner does not say how many reports"
		}
		if _, err := fmt.Fprintf(std.Out, "%s: %s, in %s/%s\n", r.ID, what, strings.TrimRight(c.Out, "/"), r.ID); err != nil {
			return err
		}
	}
	return nil
}
