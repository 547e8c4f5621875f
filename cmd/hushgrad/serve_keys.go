package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/seal"
)

// keysFlags are the flags of commands about the keys of a server on this machine.
type keysFlags struct {
	flags  *flag.FlagSet
	data   string
	seals  sealFlags
	output output
}

func (k *keysFlags) bind(f *flag.FlagSet) {
	k.flags = f
	f.StringVar(&k.data, "data", stateDir("serve"), "`directory` of the server's state, see hushgrad serve")
	k.seals.bind(f)
	k.output.bind(f)
}

// listedKey is a key for programs.
type listedKey struct {
	Fingerprint string     `json:"fingerprint"`
	Suite       seal.Suite `json:"suite"`
	Changed     time.Time  `json:"changed"`
}

func listKey(key *seal.Key) listedKey {
	return listedKey{key.Fingerprint().String(), key.Suite(), key.Changed().UTC()}
}

// open returns the keys. There must be one.
func (k *keysFlags) open() (*seal.Keys, error) {
	if k.seals.dir != "" {
		if err := command.Unused(k.flags, "with -seal-keys", "data"); err != nil {
			return nil, err
		}
	}
	if k.seals.dir == "" && (k.data == "" || k.data == noData) {
		return nil, fl.Invalid("-seal-keys", "", "is required with -data %q", k.data)
	}
	keys, err := seal.FindKeys(k.seals.place(k.data))
	if errors.Is(err, seal.ErrNoKey) {
		return nil, fmt.Errorf("%w: hushgrad serve -shuffler-listen makes the first one", err)
	}
	return keys, err
}

func newServeKey() *cobra.Command {
	k := &keysFlags{}
	c := newCommand("key [flags]", "make a new key to which clients seal reports", `Makes a new key to which clients seal reports. New rounds have it, also on a server that
runs. Rounds that are open keep theirs. Prints the fingerprint, for clients who pin it.`, func(_ context.Context, _ []string, std command.Streams) error {
		return k.add(std.Out)
	})
	k.bind(c.Flags())
	k.seals.bindSuite(c.Flags(), "of the key")
	return c
}

// add makes a key and prints its fingerprint.
func (k *keysFlags) add(w io.Writer) error {
	keys, err := k.open()
	if err != nil {
		return err
	}
	key, err := keys.Add(k.seals.suite)
	if err != nil {
		return err
	}
	return k.output.print(w, listKey(key), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, key.Fingerprint())
		return err
	})
}

func newServeKeys() *cobra.Command {
	k := &keysFlags{}
	c := newCommand("keys [flags]", "list the keys to which clients seal reports", `Lists the keys to which clients seal reports, the newest first. Remove the file of a key when no
open round names it: its name begins with the first 16 digits of the fingerprint.`, func(_ context.Context, _ []string, std command.Streams) error {
		return k.list(std.Out)
	})
	k.bind(c.Flags())
	return c
}

// list prints the keys.
func (k *keysFlags) list(w io.Writer) error {
	keys, err := k.open()
	if err != nil {
		return err
	}
	all, err := keys.All()
	if err != nil {
		return err
	}
	listed := make([]listedKey, len(all))
	for i, key := range all {
		listed[i] = listKey(key)
	}
	return k.output.print(w, listed, func(w io.Writer) error {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "fingerprint\tsuite\tage")
		for _, key := range listed {
			fmt.Fprintf(table, "%s\t%s\t%v\n", key.Fingerprint, key.Suite, time.Since(key.Changed).Round(time.Second))
		}
		return table.Flush()
	})
}
