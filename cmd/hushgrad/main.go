// Command hushgrad runs the parts of a private aggregation service, and the
// experiments that measure them.
//
//	hushgrad serve      run the gRPC parameter server
//	hushgrad round      describe a round, or open it on a server
//	hushgrad encode     turn key-value pairs into reports, or send them to a server
//	hushgrad aggregate  turn reports into estimates, or fetch a server's
//	hushgrad account    answer questions about guarantees
//	hushgrad bench      list the experiments, or run one
//	hushgrad verify     check that the code keeps a round's promise
//	hushgrad version    print the version
//
// hushgrad COMMAND -help tells the flags of a command.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/hushgrad/hushgrad/fl"
)

const usage = `hushgrad: private gradient aggregation for federated learning

Usage:
  hushgrad serve [flags]         run the gRPC parameter server
  hushgrad round [flags]         describe a round, or open it on a server
  hushgrad encode [flags] FILE   turn key-value pairs into reports, or send them to a server
  hushgrad aggregate [FILES]     turn reports into estimates, or fetch a server's
  hushgrad account QUESTION      central ε of shuffled reports, composition, planning
  hushgrad bench [NAME [flags]]  list the experiments, or run one
  hushgrad verify [flags] FILE   check that the code keeps a round's promise
  hushgrad version               print the version

hushgrad COMMAND -help tells the flags of a command.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(dispatch(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// dispatch runs one command and returns the exit code: 0, 1 for a failure and
// 2 for a wrong call.
func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return 2
	}
	var err error
	switch command := args[0]; command {
	case "serve":
		err = serve(ctx, args[1:], stderr)
	case "round":
		err = newRound(ctx, args[1:], stdout, stderr)
	case "encode":
		err = encode(ctx, args[1:], os.Stdin, stdout, stderr)
	case "aggregate":
		err = aggregate(ctx, args[1:], os.Stdin, stdout, stderr)
	case "account":
		err = account(ctx, args[1:], stdout, stderr)
	case "bench":
		err = bench(ctx, experiments, args[1:], stdout, stderr)
	case "verify":
		err = runVerify(ctx, args[1:], os.Stdin, stdout, stderr)
	case "version":
		fmt.Fprintln(stdout, version())
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
	default:
		err = fl.Invalid("command", command, "must be one of serve, round, encode, aggregate, account, bench, verify, version, help")
	}
	var wrongCall *fl.ParamError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &wrongCall):
		fmt.Fprintln(stderr, "hushgrad:", err)
		return 2
	default:
		fmt.Fprintln(stderr, "hushgrad:", err)
		return 1
	}
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return "hushgrad " + info.Main.Version
	}
	return "hushgrad (unknown version)"
}
