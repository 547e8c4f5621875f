package main

import (
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

// plainUsage takes the marks around the names of values out of what shells show beside flags.
func plainUsage(c *cobra.Command) {
	c.Flags().VisitAll(func(f *flag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") })
	for _, child := range c.Commands() {
		plainUsage(child)
	}
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
