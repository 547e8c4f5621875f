package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

// silence drops what the runner and the SDK log.
func silence() {
	log.SetLogger(quiet{})
	slog.SetDefault(slog.New(slog.DiscardHandler))
}

// quiet is a logger of the SDK without output.
type quiet struct{}

func (quiet) Log(context.Context, log.Severity, int, string) {}

// failure returns the error of a run. A runner passes the error of a stage on as text, behind the
// plan of the stage: its last line is what went wrong. With -v it stays as it is.
func (s *settings) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.verbose {
		return err
	}
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return errors.New(strings.TrimSpace(lines[len(lines)-1]))
}
