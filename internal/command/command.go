// Package command is the frame of the module's command lines: signals, flags, messages
// and exit codes. Use it in a main package, so that all commands end alike. Start with
// [Main].
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Func runs a command line without the program's name. It returns flag.ErrHelp after it
// has printed help that was asked for, and a *fl.ParamError, wrapped or not, for a wrong
// call.
type Func func(ctx context.Context, args []string, s Streams) error

// Main runs the command line of this process and exits. An interrupt or SIGTERM ends the
// context.
func Main(name string, run Func) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Run(ctx, name, run, os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}

// interrupted is the exit code after an interrupt: 128 and the number of the signal, as
// shells have it.
const interrupted = 130

// Within returns an error that Run prints after the path of a command, such as hushgrad serve,
// in place of the program's name.
func Within(path string, err error) error {
	if err == nil {
		return nil
	}
	return &pathError{path, err}
}

type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }

// Printed returns an error that Run does not print: its reader has it already.
func Printed(err error) error { return &printedError{err} }

type printedError struct{ err error }

func (e *printedError) Error() string { return e.err.Error() }
func (e *printedError) Unwrap() error { return e.err }

// Run runs a command line and returns its exit code: 0, 1 for a failure, 2 for a wrong
// call, and 130 when it ended because ctx did. It prints the error after the program's name.
func Run(ctx context.Context, name string, run Func, args []string, s Streams) int {
	err := run(ctx, args, s)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if within, ok := errors.AsType[*pathError](err); ok {
		name = within.path
	}
	text, code := err.Error(), 1
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		text, code = "interrupted", interrupted
	}
	if _, ok := errors.AsType[*printedError](err); !ok {
		fmt.Fprintf(s.Err, "%s: %s\n", name, text)
	}
	var wrongCall *fl.ParamError
	if code == 1 && errors.As(err, &wrongCall) {
		return 2
	}
	return code
}
