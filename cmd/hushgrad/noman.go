//go:build noman

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/internal/command"
)

// newMan returns a command that says where the manual pages are. The programs of a release are built with the tag noman: their archive has
// the pages, and what writes them is .3 MB.
func newMan() *cobra.Command {
	c := newCommand("man DIR", "say where the manual pages are", `This program was built without its manual pages. An archive or a package of a release has them, and in a clone this writes them:

  go run ./cmd/hushgrad man DIR`, func(context.Context, []string, command.Streams) error {
		return errors.New("this program was built without its manual pages: an archive of a release has them in share/man/man1, and \"go run ./cmd/hushgrad man DIR\" in a clone writes them")
	})
	c.Args = oneArgument("directory")
	return c
}
