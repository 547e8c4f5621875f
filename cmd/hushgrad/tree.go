package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// maxSlips is the number of letters by which a name may differ from the one that was meant.
const maxSlips = 2

// newCommand returns a command that takes no arguments. use is the usage without the name of
// the program.
func newCommand(use, summary, long string, run command.Func) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: summary, Long: long, Args: onlyFlags, DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			return run(c.Context(), args, command.Streams{In: c.InOrStdin(), Out: c.OutOrStdout(), Err: c.ErrOrStderr()})
		},
	}
	c.Flags().SortFlags = false
	return c
}

// job is what the flags of a command are for.
type job interface {
	bind(f *flag.FlagSet)
	// validate sees the flags and arguments that were given.
	validate(f *flag.FlagSet) error
	run(ctx context.Context, std command.Streams) error
}

// newJob returns a command that validates its flags and then runs j.
func newJob(use, summary, long string, j job) *cobra.Command {
	var f *flag.FlagSet
	c := newCommand(use, summary, long, func(ctx context.Context, _ []string, std command.Streams) error {
		if err := j.validate(f); err != nil {
			return err
		}
		return j.run(ctx, std)
	})
	f = c.Flags()
	j.bind(f)
	return c
}

// configurable lets the flags of a command and its children be set in the environment and in a
// file, too. A command that hands its flags on has none.
func configurable(c *cobra.Command) {
	if !c.DisableFlagParsing && (c.Flags().HasFlags() || !c.HasSubCommands()) {
		command.Configurable(c.Flags())
	}
	completeChoices(c)
	for _, child := range c.Commands() {
		configurable(child)
	}
}

// newParent returns a command that only has commands of its own. what names them in errors.
func newParent(use, summary, what string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: summary, Long: strings.ToUpper(summary[:1]) + summary[1:] + ".", DisableFlagsInUseLine: true,
	}
	requireChild(c, what)
	c.AddCommand(children...)
	return c
}

// requireChild makes a command that is called without one of its own, or with an unknown one,
// an error.
func requireChild(c *cobra.Command, what string) {
	c.SuggestionsMinimumDistance = maxSlips
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			printHelp(c.ErrOrStderr(), c)
			return fl.Invalid(what, "", "is required")
		case args[0] == "help":
			return c.Help()
		}
		return notOne(c, what, args[0])
	}
}

// notOne is the error for a name that no command of c has.
func notOne(c *cobra.Command, what, name string) error {
	meant := below(c, name)
	if len(meant) == 0 {
		meant = c.SuggestionsFor(name)
	}
	return fl.Invalid(what, name, "must be one of %s%s", strings.Join(names(c), ", "), command.Meant(meant))
}

// below returns the commands of the commands of c that have a name, with their parents: account plan.
func below(c *cobra.Command, name string) (found []string) {
	for _, child := range c.Commands() {
		for _, one := range child.Commands() {
			if child.IsAvailableCommand() && one.Name() == name {
				found = append(found, child.Name()+" "+name)
			}
		}
	}
	return found
}

// names returns the names of the commands of a command.
func names(c *cobra.Command) (names []string) {
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return names
}

// onlyFlags refuses arguments.
func onlyFlags(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = maxSlips
	return fl.Invalid("arguments", args[0], "only flags are allowed%s, see %s --help", command.Meant(c.SuggestionsFor(args[0])), c.CommandPath())
}

// oneArgument requires exactly one, which is what.
func oneArgument(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fl.Invalid("arguments", len(args), "exactly one %s is required, see %s --help", what, c.CommandPath())
		}
		return nil
	}
}

// twoDashes returns the command of a command line, and an error for a long flag with one dash.
func twoDashes(root *cobra.Command, args []string) (*cobra.Command, error) {
	c, rest, err := root.Find(args)
	if err != nil {
		return root, nil // which is found again when the line runs
	}
	return c, command.TwoDashes(c.Flags(), rest)
}

// configure sets the flags that the command line left open.
func configure(c *cobra.Command) error {
	if c.Flags().Lookup("config") == nil {
		return nil
	}
	var children []string
	for _, child := range c.Commands() {
		children = append(children, child.CommandPath())
	}
	return command.Configure(c.CommandPath(), c.Flags(), children...)
}
