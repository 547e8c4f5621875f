// Command hushgrad runs the parts of a private aggregation service. Operators use serve,
// shuffle, issue, relay, round and aggregate. Clients and batch jobs use encode. Any party can use
// account and verify to find out what a round promises, and ledger to find out what was spent. Start
// with hushgrad help.
package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/internal/command"
	_ "github.com/hushgrad/hushgrad/mechanisms"
)

func main() { command.Main("hushgrad", dispatch) }

// Help lists commands in the order in which they are used.
func init() { cobra.EnableCommandSorting = false }

// newRoot returns all commands, by what they are for.
func newRoot() *cobra.Command {
	root := newParent("hushgrad", "private gradient aggregation for federated learning", "command")
	root.SilenceErrors, root.SilenceUsage = true, true // command.Run prints errors
	root.SuggestionsMinimumDistance = maxSlips
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return configure(c) }
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return command.FlagError(c.Flags(), c.CommandPath(), err)
	})
	root.SetHelpFunc(help)
	root.SetHelpCommand(newHelp())
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Begin", []*cobra.Command{newDemo(), newNew()}},
		{"Run a service", []*cobra.Command{newCertify(), newServe(), newShuffle(), newIssue(), newRelay()}},
		{"Run rounds, take part", []*cobra.Command{newRound(), newRounds(), newRun(), newEncode(), newAggregate()}},
		{"Ask what a round promises", []*cobra.Command{newAccount(), newVerify(), newLedger(), newLog()}},
		{alsoGroup, []*cobra.Command{newHealth(), newVersion(), newMan()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			configurable(c)
		}
		root.AddCommand(g.commands...)
	}
	root.AddCommand(helpTopics()...)
	bindVersion(root)
	return root
}

// dispatch runs one of the commands.
func dispatch(ctx context.Context, args []string, std command.Streams) error {
	root := newRoot()
	root.SetIn(std.In)
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	root.InitDefaultHelpCmd()
	bindCompletion(root)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		plainUsage(root)
	}
	root.SetArgs(args)
	c, err := twoDashes(root, args)
	if err == nil {
		c, err = root.ExecuteContextC(ctx)
	}
	return command.Within(c.CommandPath(), logged(c, err, std.Err))
}
