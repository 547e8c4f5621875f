package main

import (
	"cmp"
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

// keyHolder is a role that has keys to which clients seal what they send.
type keyHolder struct{ command, who, what, made, listed string }

var (
	firstServer  = keyHolder{command: "serve", who: "server", what: "reports", made: "hushgrad serve --shuffler-listen makes the first one"}
	secondServer = keyHolder{command: "shuffle", who: "shuffler", what: "second shares", made: "hushgrad shuffle makes the first one",
		listed: "\nhushgrad round --share-key takes the public_key of --output json."} // the server does not have the shuffler's key
)

// keysFlags are the flags of commands about the keys of a role on this machine.
type keysFlags struct {
	of     keyHolder
	flags  *flag.FlagSet
	data   string
	seals  sealFlags
	output output
}

func (k *keysFlags) bind(f *flag.FlagSet) {
	k.flags = f
	f.StringVar(&k.data, "data", stateDir(k.of.command), fmt.Sprintf("`directory` of the %s's state, see hushgrad %s", k.of.who, k.of.command))
	k.seals.bind(f, k.of.what)
	k.output.bind(f)
}

// listedKey is a key for programs.
type listedKey struct {
	Fingerprint string     `json:"fingerprint"`
	Public      []byte     `json:"public_key"`
	Suite       seal.Suite `json:"suite"`
	State       string     `json:"state"`
	Changed     time.Time  `json:"changed"`
	Until       *time.Time `json:"until,omitempty"`
}

// The states of a key. New rounds have the active one.
const (
	pendingKey  = "pending"  // from a time that is to come
	activeKey   = "active"   // the newest one
	replacedKey = "replaced" // it opens rounds that name it
	expiredKey  = "expired"  // the same, and it is removed after the last of them
)

// listKeys describes keys, the newest first, of which one is active.
func listKeys(all []*seal.Key, active seal.Fingerprint, now time.Time) []listedKey {
	listed := make([]listedKey, len(all))
	for i, key := range all {
		l := listedKey{Fingerprint: key.Fingerprint().String(), Public: key.Public(), Suite: key.Suite(), Changed: key.Changed().UTC()}
		if until := key.Until().UTC(); !key.Until().IsZero() {
			l.Until = &until
		}
		switch {
		case key.Fingerprint() == active:
			l.State = activeKey
		case key.Pending(now):
			l.State = pendingKey
		case l.Until != nil && !l.Until.After(now):
			l.State = expiredKey
		default:
			l.State = replacedKey
		}
		listed[i] = l
	}
	return listed
}

// open returns the keys. There must be one.
func (k *keysFlags) open() (*seal.Keys, error) {
	if k.seals.dir != "" {
		if err := command.Unused(k.flags, "with --seal-keys", "data"); err != nil {
			return nil, err
		}
	}
	if k.seals.dir == "" && (k.data == "" || k.data == noData) {
		return nil, fl.Invalid("--seal-keys", "", "is required with --data %q", k.data)
	}
	if k.seals.dir == "" {
		owner, err := roleOf(k.data)
		if err = cmp.Or(err, notOf(k.data, owner, k.of.command)); err != nil {
			return nil, err
		}
	}
	keys, err := seal.FindKeys(k.seals.place(k.data))
	if errors.Is(err, seal.ErrNoKey) {
		return nil, fmt.Errorf("%w: %s", err, k.of.made)
	}
	return keys, err
}

func newKey(of keyHolder) *cobra.Command {
	k := &keysFlags{of: of}
	c := newCommand("key [flags]", "make a new key to which clients seal "+of.what, fmt.Sprintf(`Makes a new key to which clients seal %s. New rounds may have it, also on a %s that
runs. Rounds that are open keep theirs. Prints the fingerprint, for clients who pin it.%s`, of.what, of.who, of.listed), func(_ context.Context, _ []string, std command.Streams) error {
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
	return k.output.printf(w, listKeys([]*seal.Key{key}, key.Fingerprint(), time.Now())[0], "%s\n", key.Fingerprint())
}

func newKeyList(of keyHolder) *cobra.Command {
	k := &keysFlags{of: of}
	c := newCommand("keys [flags]", "list the keys to which clients seal "+of.what, fmt.Sprintf(`Lists the keys to which clients seal %s, the newest first. New rounds may have the active one, and not a
pending one before its time. An expired key, which "keys rotate" has ended, is removed by itself. Remove the file of a replaced key yourself when no
open round names it: its name begins with the first 16 digits of the fingerprint.%s`, of.what, of.listed), func(_ context.Context, _ []string, std command.Streams) error {
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
	newest, err := keys.Newest()
	if err != nil {
		return err
	}
	listed := listKeys(all, newest.Fingerprint(), time.Now())
	return k.output.print(w, listed, func(w io.Writer) error {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "fingerprint\tsuite\tstate\tfrom\tuntil")
		for _, key := range listed {
			until := "-"
			if key.Until != nil {
				until = moment(*key.Until)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", key.Fingerprint, key.Suite, key.State, moment(key.Changed), until)
		}
		return table.Flush()
	})
}
