// Command hushgrad runs the parts of a private aggregation service. Operators use serve,
// shuffle, issue, round and aggregate. Clients and batch jobs use encode. Any party can use
// account and verify to find out what a round promises. Start with hushgrad help.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// subcommand is one of hushgrad's commands.
type subcommand struct {
	name, arguments, summary string
	run                      command.Func
}

func subcommands() []subcommand {
	return []subcommand{
		{"serve", "[flags]", "run the gRPC parameter server", serve},
		{"shuffle", "[flags]", "run the shuffler: hide from the server who sent what", shuffle},
		{"issue", "[flags]", "admit clients to rounds: give each one token", issue},
		{"round", "[flags]", "describe a round, or open it on a server", round},
		{"encode", "[flags] FILE", "turn key-value pairs into reports, or send them to a server", encode},
		{"aggregate", "[flags] FILES", "turn reports into estimates, or fetch those of a server", aggregate},
		{"health", "[flags]", "ask a server on this machine whether it is ready", health},
		{"rounds", "ACTION", "list, watch, abort and export the rounds of a server", rounds},
		{"account", "QUESTION", "compute central ε, composition and plans", account},
		{"verify", "[flags] FILE", "check that the code keeps a round's promise", runVerify},
		{"version", "", "print the version", version},
	}
}

func main() { command.Main("hushgrad", dispatch) }

// dispatch runs one of the commands.
func dispatch(ctx context.Context, args []string, std command.Streams) error {
	if len(args) == 0 {
		usage(std.Err)
		return fl.Invalid("command", "", "is required")
	}
	commands := subcommands()
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		if len(rest) == 0 {
			usage(std.Out)
			return nil
		}
		name, rest = rest[0], []string{"-help"}
	}
	if i := slices.IndexFunc(commands, func(c subcommand) bool { return c.name == name }); i >= 0 {
		return commands[i].run(ctx, rest, std)
	}
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	return fl.Invalid("command", name, "must be one of %s, help", strings.Join(names, ", "))
}

func usage(w io.Writer) {
	fmt.Fprint(w, "hushgrad: private gradient aggregation for federated learning\n\nUsage:\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range subcommands() {
		fmt.Fprintf(table, "  hushgrad %s %s\t%s\n", c.name, c.arguments, c.summary)
	}
	_ = table.Flush() // nothing can be done about a closed terminal
	fmt.Fprint(w, "\nhushgrad help COMMAND lists the flags of a command.\n")
}

// newFlags returns the flags of a command, whose help is printed before them. They can be
// set in the environment and in a file, too.
func newFlags(name, help string, stderr io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet("hushgrad "+name, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, help)
		f.PrintDefaults()
	}
	command.Configurable(f)
	return f
}

// release is the version of a build for a package index. The linker sets it.
var release string

func version(_ context.Context, args []string, std command.Streams) error {
	if err := command.ParseOnly(newFlags("version", "Usage: hushgrad version\n\nPrints the version of this program.\n\n", std.Err), args); err != nil {
		return err
	}
	number := cmp.Or(release, "(unknown version)")
	if info, ok := debug.ReadBuildInfo(); ok && release == "" {
		number = info.Main.Version
	}
	_, err := fmt.Fprintln(std.Out, "hushgrad", number)
	return err
}
