package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/wrap"
)

// newHelp returns the command help.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help COMMAND", Short: "explain a command or a topic", DisableFlagsInUseLine: true,
		Long: "Explains a command, or one of the topics configuration and exit-codes.",
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var known []cobra.Completion
			for _, child := range of.Commands() {
				if !child.Hidden {
					known = append(known, cobra.CompletionWithDesc(child.Name(), child.Short))
				}
			}
			return known, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 && !of.HasAvailableSubCommands() {
				return fl.Invalid("command", rest[0], "must not be given: %s has no commands of its own", of.CommandPath())
			}
			if len(rest) > 0 {
				return notOne(of, "command", rest[0])
			}
			return of.Help()
		},
	}
}

// help prints the help of a command.
func help(c *cobra.Command, _ []string) { printHelp(c.OutOrStdout(), c) }

// printHelp does not report errors: nothing can be done about a closed terminal.
func printHelp(w io.Writer, c *cobra.Command) {
	if c.Hidden { // a topic
		fmt.Fprint(w, wrap.Text(c.Long, ""))
		return
	}
	if !c.HasParent() {
		// No empty line, and as little beside the commands as can be, so that a small terminal shows all.
		fmt.Fprintf(w, "%s: %s\n", c.Name(), c.Short)
		printChildren(w, c)
		return
	}
	fmt.Fprintf(w, "Usage: %s\n\n%s", c.UseLine(), wrap.Text(c.Long, ""))
	if c.HasAvailableSubCommands() {
		fmt.Fprintln(w)
		printChildren(w, c)
	}
	c.InitDefaultHelpFlag()
	c.Flags().Lookup("help").Usage = "print this"
	fmt.Fprint(w, "\nFlags:\n")
	command.PrintFlags(w, c.Flags())
}

// alsoGroup has the commands whose names say all. They have one line together, so that a small terminal shows all commands.
const alsoGroup = "Also"

// printChildren lists the commands of a command, by group.
func printChildren(w io.Writer, c *cobra.Command) {
	groups := c.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands"}}
	}
	for _, g := range groups {
		if g.ID == alsoGroup {
			var names []string
			for _, child := range c.Commands() {
				if child.IsAvailableCommand() && child.GroupID == g.ID {
					names = append(names, child.Name())
				}
			}
			fmt.Fprintf(w, "%s: %s; help COMMAND, configuration, exit-codes.\n", g.Title, strings.Join(names, ", "))
			continue
		}
		fmt.Fprintf(w, "%s:\n", g.Title)
		table := tabwriter.NewWriter(w, 14, 0, 2, ' ', 0)
		for _, child := range c.Commands() {
			if child.IsAvailableCommand() && child.GroupID == g.ID {
				fmt.Fprintf(table, "  %s\t%s\n", child.Name(), child.Short)
			}
		}
		_ = table.Flush() // nothing can be done about a closed terminal
	}
}

// helpTopics are the pages of hushgrad help that are about all commands.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		newTopic("configuration", "flags from the environment and from a file", `Every flag of a command can be set in three places. The command line wins over the environment, and the environment over the file.

On the command line:

  hushgrad serve --operator-listen 127.0.0.1:7118

In the environment the name of a flag follows the command's:

  HUSHGRAD_SERVE_OPERATOR_LISTEN=127.0.0.1:7118
  HUSHGRAD_ROUNDS_LIST_SERVER=127.0.0.1:7118

A file is named by --config, or by a variable such as HUSHGRAD_SERVE_CONFIG. It is TOML of at most 64 KiB, with flags as its keys and a list for a flag that may be repeated:

  operator-listen = "127.0.0.1:7118"
  param = ["sparsity=2", "slots=16"]

A key or a variable without a flag is an error, and so is a value that a flag does not take.
`),
		newTopic("exit-codes", "what the exit codes say", `Every command ends with one of these:

  0    it did what it was asked to
  1    it failed, hushgrad verify found a broken promise, a round to refuse or
       an implementation that does not conform, or hushgrad account plan found
       no plan with the error that was asked for
  2    the call was wrong: a flag, an argument, a file or a combination of them
  130  it was interrupted before it was done

A service that is interrupted stops in order and ends with 0. The error is the last line of standard error: the command, what is wrong, the value that was given, and the rule that it breaks. Results go to standard output.
`),
	}
}

// newTopic returns a page of hushgrad help.
func newTopic(name, summary, text string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: summary, Long: text, Hidden: true, Args: onlyFlags,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
}
