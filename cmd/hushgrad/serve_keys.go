package main

import (
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/seal"
)

// keysFlags are the flags of commands about the keys of a server on this machine.
type keysFlags struct {
	*flag.FlagSet
	data  string
	seals sealFlags
}

func newKeysFlags(name, help string, stderr io.Writer) *keysFlags {
	k := &keysFlags{FlagSet: newFlags("serve "+name, fmt.Sprintf("Usage: hushgrad serve %s [flags]\n\n%s\n\n", name, help), stderr)}
	k.StringVar(&k.data, "data", stateDir("serve"), "`directory` of the server's state, see hushgrad serve")
	k.seals.bind(k.FlagSet)
	return k
}

// open parses the flags and returns the keys, of which there must be one.
func (k *keysFlags) open(args []string) (*seal.Keys, error) {
	if err := command.ParseOnly(k.FlagSet, args); err != nil {
		return nil, err
	}
	if k.seals.dir == "" && (k.data == "" || k.data == noData) {
		return nil, fl.Invalid("-seal-keys", "", "is required with -data %q", k.data)
	}
	keys, err := seal.FindKeys(k.seals.place(k.data))
	if err != nil {
		return nil, fmt.Errorf("%w: hushgrad serve -shuffler-listen makes the first one", err)
	}
	return keys, nil
}

// serveKey makes a key.
func serveKey(args []string, std command.Streams) error {
	k := newKeysFlags("key", `Makes a new key to which clients seal reports. It is that of new rounds, also of a server that
runs. Rounds that are open keep theirs. Prints the fingerprint, for clients who pin it.`, std.Err)
	k.seals.bindSuite(k.FlagSet, "of the key")
	keys, err := k.open(args)
	if err != nil {
		return err
	}
	if err := k.seals.validateSuite(); err != nil {
		return err
	}
	key, err := keys.Add(k.seals.suite)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(std.Out, key.Fingerprint())
	return err
}

// serveKeys lists the keys.
func serveKeys(args []string, std command.Streams) error {
	keys, err := newKeysFlags("keys", `Lists the keys to which clients seal reports, the newest first. Remove the file of a key when no
open round names it: its name begins with the first 16 digits of the fingerprint.`, std.Err).open(args)
	if err != nil {
		return err
	}
	all, err := keys.All()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "fingerprint\tsuite\tage")
	for _, key := range all {
		fmt.Fprintf(table, "%s\t%s\t%v\n", key.Fingerprint(), key.Suite(), time.Since(key.Changed()).Round(time.Second))
	}
	return table.Flush()
}
