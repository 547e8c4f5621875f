package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/internal/command"
)

// release is the version of a build for a package index. The linker sets it.
var release string

// build is what is known of this binary. Empty is unknown.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	Go      string `json:"go"`
}

// thisBuild reads what the linker and go build left in the binary. Go leaves the commit where it
// builds in a clone.
func thisBuild() build {
	b := build{Version: release, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(b.Version, info.Main.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		}
	}
	return b
}

func (b build) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "hushgrad %s\ncommit   %s\ndate     %s\ngo       %s\n",
		cmp.Or(b.Version, "unknown"), cmp.Or(b.Commit, "unknown"), cmp.Or(b.Date, "unknown"), b.Go)
	return err
}

func newVersion() *cobra.Command {
	var form output
	var from provenance
	c := newCommand("version", "print the version, the commit and its date", `Prints the version of this program, its commit with the date, and the version of Go that built it.

--verify compares this program with the signed checksums of a release, and prints the modules it was built from with their sums:

  hushgrad version --verify checksums.note`,
		func(_ context.Context, _ []string, std command.Streams) error {
			if err := from.validate(); err != nil {
				return err
			}
			if from.sums == "" {
				return form.print(std.Out, thisBuild(), thisBuild().print)
			}
			found, err := from.verify()
			if err != nil {
				return err
			}
			return form.print(std.Out, found, found.print)
		})
	form.bind(c.Flags())
	from.bind(c.Flags())
	return c
}

// bindVersion adds --version to the root.
func bindVersion(root *cobra.Command) {
	asked := root.Flags().Bool("version", false, "print the version")
	run := root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		if *asked {
			return thisBuild().print(c.OutOrStdout())
		}
		return run(c, args)
	}
}
