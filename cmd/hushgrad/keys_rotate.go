package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/seal"
)

// newKeyRotate returns the command that replaces a server's key at a time that is to come.
func newKeyRotate() *cobra.Command {
	k := &keysFlags{of: firstServer}
	var after time.Duration
	c := newCommand("rotate [flags]", "replace the key at a time that is to come", `Makes a key that is pending, and becomes active after some time. Give its fingerprint to clients
who pin keys before then: they pin both. New rounds have the active key. Rounds that are open
keep theirs, which then is expired. A server that runs removes an expired key when the last
round that names it has ended. No server is restarted.

  hushgrad serve keys rotate --after 48h`, func(_ context.Context, _ []string, std command.Streams) error {
		if after < 0 {
			return fl.Invalid("--after", after, "must be at least 0")
		}
		return k.rotate(std.Out, time.Now().Add(after))
	})
	k.bind(c.Flags())
	c.Flags().DurationVar(&after, "after", 48*time.Hour, "time until the new key is active: longer than clients need to learn its fingerprint")
	k.seals.bindSuite(c.Flags(), "of the key")
	return c
}

// rotate makes the key and prints its fingerprint.
func (k *keysFlags) rotate(w io.Writer, from time.Time) error {
	keys, err := k.open()
	if err != nil {
		return err
	}
	key, err := keys.Rotate(k.seals.suite, from)
	if err != nil {
		return err
	}
	return k.output.printf(w, listKeys([]*seal.Key{key}, seal.Fingerprint{}, time.Now())[0], "%s\n", key.Fingerprint())
}
