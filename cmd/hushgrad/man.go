//go:build !noman

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// newMan returns the command that writes the manual pages.
func newMan() *cobra.Command {
	var c *cobra.Command
	c = newCommand("man DIR", "write the manual pages of all commands into a directory", `Writes a manual page for each command into a directory that is there:

  hushgrad man ~/.local/share/man/man1 && man hushgrad-serve`, func(ctx context.Context, args []string, std command.Streams) error {
		return writeManual(ctx, c.Root(), args[0], std.Out)
	})
	c.Args = oneArgument("directory")
	return c
}

// writeManual writes the page of a command and the pages of its commands.
func writeManual(ctx context.Context, c *cobra.Command, dir string, stdout io.Writer) error {
	children := slices.DeleteFunc(slices.Clone(c.Commands()), func(child *cobra.Command) bool { return child.Hidden || child.Name() == "help" })
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	file := filepath.Join(dir, name+".1")
	if err := command.Place("DIR", file); err != nil {
		return fl.Invalid("DIR", dir, "must be a directory that is there")
	}
	b := thisBuild()
	c.DisableAutoGenTag = true
	header := &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Source: "hushgrad " + b.Version, Manual: "hushgrad"}
	if made, err := time.Parse(time.RFC3339, b.Date); err == nil {
		header.Date = &made
	}
	if err := command.Replace(ctx, file, func(w io.Writer) error { return doc.GenMan(c, header, w) }); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, file); err != nil {
		return err
	}
	for _, child := range children {
		if err := writeManual(ctx, child, dir, stdout); err != nil {
			return err
		}
	}
	return nil
}
