package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/command"
)

// bindCompletion adds the command that prints scripts for shells.
func bindCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "completion" })
	c := root.Commands()[i]
	c.Use, c.Short = "completion SHELL", "print what completes command lines in bash, zsh, fish or powershell"
	c.Long = "Prints a script that lets a shell complete commands, flags and their values. The help of each shell says how to load it."
	c.GroupID = root.Groups()[len(root.Groups())-1].ID
	requireChild(c, "shell")
	for _, shell := range c.Commands() {
		shell.Args, shell.Short = onlyFlags, "print the script for "+shell.Name()
		shell.Use, shell.DisableFlagsInUseLine = shell.Name()+" [flags]", true
	}
}

// completeWord answers a shell that asks how a command line may go on. The shell has one dash
// where cobra has two.
func completeWord(ctx context.Context, root *cobra.Command, args []string) error {
	var answer strings.Builder
	last := len(args) - 1
	line := append(args[:1:1], longFlags(root, args[1:max(last, 1)])...)
	oneDash := false
	if last > 0 {
		word := args[last]
		if oneDash = strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--"); oneDash {
			word = "-" + word
		}
		line = append(line, word)
	}
	out := root.OutOrStdout()
	root.SetOut(&answer)
	root.SetArgs(line)
	if _, err := root.ExecuteContextC(ctx); err != nil {
		return err
	}
	for one := range strings.Lines(answer.String()) {
		one = strings.ReplaceAll(one, "`", "") // around the name of a value
		if oneDash && strings.HasPrefix(one, "--") {
			one = one[1:]
		}
		if _, err := fmt.Fprint(out, one); err != nil {
			return err
		}
	}
	return nil
}

// completeChoices lets shells complete the values of flags that have a few.
func completeChoices(c *cobra.Command) {
	c.Flags().VisitAll(func(f *flag.Flag) {
		values := command.Choices(f)
		if values == nil {
			return
		}
		if err := c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flag is there, and this is the only call for it
		}
	})
}
