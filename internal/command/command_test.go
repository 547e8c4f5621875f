package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   int
		stderr string
	}{
		{nil, 0, ""},
		{flag.ErrHelp, 0, ""},
		{errors.New("broken"), 1, "name: broken\n"},
		{fmt.Errorf("deep: %w", fl.Invalid("--n", 3, "must be 4")), 2, "name: deep: --n: got 3, rule: must be 4\n"},
	} {
		var stderr bytes.Buffer
		run := func(_ context.Context, args []string, _ Streams) error {
			if len(args) != 1 || args[0] != "a" {
				t.Errorf("arguments %q", args)
			}
			return c.err
		}
		if code := Run(t.Context(), "name", run, []string{"a"}, Streams{Err: &stderr}); code != c.code || stderr.String() != c.stderr {
			t.Errorf("%v: exit code %d, printed %q, want %d and %q", c.err, code, stderr.String(), c.code, c.stderr)
		}
	}
}

func TestAnInterruptHasItsExitCode(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	run := func(ctx context.Context, _ []string, _ Streams) error {
		stop()
		<-ctx.Done()
		return fmt.Errorf("round 3: %w", ctx.Err())
	}
	if code := Run(ctx, "name", run, nil, Streams{Err: &stderr}); code != 130 || stderr.String() != "name: interrupted\n" {
		t.Errorf("exit code %d, printed %q", code, stderr.String())
	}
}
