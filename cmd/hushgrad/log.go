package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/internal/translog"
	"github.com/hushgrad/hushgrad/server"
)

// newLog returns the command about the log in which outsiders read what a server did.
func newLog() *cobra.Command {
	return newParent("log ACTION", "read, verify, watch and cosign the log of what a server did", "action",
		newLogKey(), newLogVerify(), newLogMonitor(), newLogWitness())
}

// loggedFlags are the flags of a server that writes a log.
type loggedFlags struct {
	dir, key            string
	witnesses, gateways repeatedFlag
}

func (l *loggedFlags) bind(f *flag.FlagSet) {
	f.StringVar(&l.dir, "log", "", "`folder` of a log for outsiders: rounds, their keys, releases and models, see hushgrad log; --http serves it below /log/; \"\" is none")
	f.StringVar(&l.key, "log-key-file", "", "with --log: `file` with the log's private key, which hushgrad log key makes")
	f.Var(&l.witnesses, "log-witness", "with --log: public `key` of a witness whose signatures the log takes; may be repeated")
	f.Var(&l.gateways, "log-gateway", "with --log: `key` configuration of the shuffler's gateway or the issuer's, for the log; may be repeated")
}

func (l *loggedFlags) validate(c clusterFlags) error {
	switch {
	case l.dir == "" && len(l.witnesses) > 0:
		return fl.Invalid("--log-witness", l.witnesses[0], "needs --log")
	case l.dir == "" && len(l.gateways) > 0:
		return fl.Invalid("--log-gateway", l.gateways[0], "needs --log")
	case l.dir == "":
		return notGiven("needs --log", textFlag{"--log-key-file", l.key})
	case l.key == "":
		return fl.Invalid("--log-key-file", "", "is required with --log: type hushgrad log key --name NAME --out FILE to make one")
	case c.urls != "":
		return fl.Invalid("--log", l.dir, "must not be given with --nats: one server alone writes a log")
	}
	_, err := loggedKeys("--log-gateway", l.gateways)
	return err
}

// config returns the settings of the log.
func (l *loggedFlags) config() (server.Log, error) {
	if l.dir == "" {
		return server.Log{}, nil
	}
	key, err := readLogKey("--log-key-file", l.key)
	return server.Log{Dir: l.dir, Key: key, Witnesses: l.witnesses, Gateways: l.gateways}, err
}

// inLogFlags are the flags of a client that takes part only in rounds that everybody can see.
type inLogFlags struct {
	key       string
	witnesses repeatedFlag
}

func (l *inLogFlags) bind(f *flag.FlagSet) {
	f.StringVar(&l.key, "log-key", "", "with --server: public `key` of the server's log: refuse a round that is not proved to be in the log")
	f.Var(&l.witnesses, "witness", "with --log-key: public `key` of a witness that must have signed the log, too; may be repeated")
}

func (l *inLogFlags) validate() error {
	if l.key == "" {
		return notGiven("needs --log-key", textFlag{"--witness", l.witnesses.String()})
	}
	_, err := translog.NewKeys("--log-key", l.key, "--witness", l.witnesses)
	return err
}

// maxKeyBytes bounds the file of a private key.
const maxKeyBytes = 1 << 10

// readLogKey reads the file of a private key.
func readLogKey(name, file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	key, err := io.ReadAll(io.LimitReader(f, maxKeyBytes+1))
	if err == nil && len(key) > maxKeyBytes {
		err = fl.Invalid(name, file, "must have at most %d bytes, as hushgrad log key has written it", maxKeyBytes)
	}
	return string(key), err
}

// logKeyFlags are the flags of log key.
type logKeyFlags struct {
	name, out, use string
	output         output
}

// The uses of a key.
const (
	serverUse  = "server"
	witnessUse = "witness"
)

func newLogKey() *cobra.Command {
	return newJob("key --name NAME --out FILE [flags]", "make the key of a log or of a witness", `Makes the key with which a server signs its log, or with which a witness signs that it has seen
it. The private key is in the file. Prints the public key, for clients, monitors and witnesses. A
log keeps its key and its name for ever: a new key means a new log in a new folder.`, &logKeyFlags{})
}

func (k *logKeyFlags) bind(f *flag.FlagSet) {
	f.StringVar(&k.name, "name", "", "`name` of the log or the witness, such as example.org/hushgrad")
	f.StringVar(&k.out, "out", "", "`file` for the private key, which must be new")
	k.use = serverUse
	command.OneOf(f, &k.use, "for", "", []string{serverUse, witnessUse}, "whose key: server or witness")
	k.output.bind(f)
}

func (k *logKeyFlags) validate(*flag.FlagSet) error {
	if k.out == "" {
		return fl.Invalid("--out", "", "is required: a file for the private key")
	}
	return command.Place("--out", k.out)
}

func (k *logKeyFlags) run(_ context.Context, std command.Streams) error {
	private, public, err := translog.NewKey(k.name, k.use == witnessUse)
	if p, ok := errors.AsType[*fl.ParamError](err); ok {
		return fl.Invalid("--name", k.name, "%s", p.Rule)
	}
	if err != nil {
		return err
	}
	if err := keepKey(k.out, private, "a key that is lost ends its log"); err != nil {
		return err
	}
	made := struct {
		PublicKey string `json:"public_key"`
		File      string `json:"file"`
	}{public, k.out}
	return k.output.printf(std.Out, made, "%s\n", public)
}

// keepKey writes a private key to the file of --out. why says why no file that is there is replaced.
func keepKey(out, private, why string) error {
	f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fl.Invalid("--out", out, "must be a new file: %s", why)
	}
	if err == nil {
		_, err = fmt.Fprintln(f, private)
		err = errors.Join(err, f.Sync(), f.Close(), durable.SyncDir(filepath.Dir(out)))
	}
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}
