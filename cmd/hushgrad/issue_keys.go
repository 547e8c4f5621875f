package main

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// pemKey is the type of the PEM block of an issuer's key.
const pemKey = "PUBLIC KEY"

// issuerFlags are the flags of commands that talk to the issuer as its operator.
type issuerFlags struct {
	remote remote
	round  string
	life   time.Duration
	output output
}

func (i *issuerFlags) bind(f *flag.FlagSet) {
	i.remote.bindParty(f, "server", "", "hushgrad issue", "its operator's listener")
	i.output.bind(f)
}

// bindRound adds the flag that names a round.
func (i *issuerFlags) bindRound(f *flag.FlagSet) {
	f.StringVar(&i.round, "id", "", "name of the round")
}

// onRound is onIssuer for a command about one round.
func (i *issuerFlags) onRound(use func(service.IssuerOperatorClient) error) error {
	if i.round == "" && i.remote.server != "" {
		return fl.Invalid("--id", "", "is required: the name of a round")
	}
	return i.onIssuer(use)
}

// onIssuer calls use with the operator's service.
func (i *issuerFlags) onIssuer(use func(service.IssuerOperatorClient) error) error {
	return i.remote.connected("is required: the operator's listener of hushgrad issue",
		func(conn *grpc.ClientConn) error { return use(service.NewIssuerOperatorClient(conn)) })
}

func newIssueKey() *cobra.Command {
	i := &issuerFlags{}
	var f *flag.FlagSet
	c := newCommand("key --server ADDRESS --id ROUND [flags]", "make the keys of a round, for hushgrad round --issuer-key", `Makes the two keys of a round on the issuer and prints them as PEM, for hushgrad round
--issuer-key. The first one is for the server. The second one is for the shuffler, if the
round has one. Called again without --life it prints the same keys.`, func(ctx context.Context, _ []string, std command.Streams) error {
		if i.life <= 0 {
			return fl.Invalid("--life", i.life, "must be > 0")
		}
		return i.onRound(func(c service.IssuerOperatorClient) error {
			req := &service.CreateKeyRequest{RoundId: i.round}
			if command.Given(f, "life") {
				req.Expires = timestamppb.New(time.Now().Add(i.life))
			}
			resp, err := c.CreateKey(ctx, req)
			if err != nil {
				return err
			}
			key, err := protoJSON(resp.GetKey())
			if err != nil {
				return err
			}
			return i.output.print(command.Writer(ctx, std.Out), key, func(w io.Writer) error {
				if err := pem.Encode(w, &pem.Block{Type: pemKey, Bytes: resp.GetKey().GetPublicKey()}); err != nil {
					return err
				}
				return pem.Encode(w, &pem.Block{Type: pemKey, Bytes: resp.GetKey().GetOuterPublicKey()})
			})
		})
	})
	f = c.Flags()
	i.bind(f)
	i.bindRound(f)
	f.DurationVar(&i.life, "life", server.IssuerKeyLife, "time until the issuer destroys the keys: longer than the round lasts")
	return c
}

func newIssueKeys() *cobra.Command {
	i := &issuerFlags{}
	c := newCommand("keys --server ADDRESS [flags]", "list the rounds that have keys", "Lists the rounds that have keys, how many clients have a token, and when the keys end.",
		func(ctx context.Context, _ []string, std command.Streams) error {
			return i.onIssuer(func(c service.IssuerOperatorClient) error {
				resp, err := c.ListKeys(ctx, &service.ListKeysRequest{})
				if err != nil {
					return err
				}
				keys, err := protoJSON(resp)
				if err != nil {
					return err
				}
				return i.output.print(command.Writer(ctx, std.Out), keys, func(w io.Writer) error { return writeKeys(w, resp.GetKeys()) })
			})
		})
	i.bind(c.Flags())
	return c
}

// writeKeys lists keys for people.
func writeKeys(w io.Writer, keys []*service.IssuerKey) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "round\tissued\texpires")
	for _, k := range keys {
		fmt.Fprintf(table, "%s\t%d\t%s\n", k.GetRoundId(), k.GetIssued(), k.GetExpires().AsTime().Format(time.RFC3339))
	}
	return table.Flush()
}

func newIssueDrop() *cobra.Command {
	i := &issuerFlags{}
	c := newCommand("drop --server ADDRESS --id ROUND [flags]", "destroy the keys of a round", `Destroys the keys of a round and the record of who had a token under them. Tokens that clients
have already stay good.`, func(ctx context.Context, _ []string, std command.Streams) error {
		return i.onRound(func(c service.IssuerOperatorClient) error {
			if _, err := c.DropKey(ctx, &service.DropKeyRequest{RoundId: i.round}); err != nil {
				return err
			}
			return i.output.printf(std.Out, map[string]string{"dropped": i.round}, "dropped %s\n", i.round)
		})
	})
	i.bind(c.Flags())
	i.bindRound(c.Flags())
	return c
}

// readIssuerKeys reads a file of hushgrad issue key: the round's issuer_key, and its outer_issuer_key for a
// round with a shuffler. Both are empty without a file.
func readIssuerKeys(file string) (inner, outer []byte, err error) {
	if file == "" {
		return nil, nil, nil
	}
	text, err := readSmall("--issuer-key", file)
	if err != nil {
		return nil, nil, err
	}
	first, rest := pem.Decode(text)
	second, rest := pem.Decode(rest)
	if first == nil || first.Type != pemKey || second == nil || second.Type != pemKey || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, nil, fl.Invalid("--issuer-key", file, "must hold two PEM blocks %q, as hushgrad issue key prints them, and nothing else", pemKey)
	}
	return first.Bytes, second.Bytes, nil
}

// secret reads what the issuer knows the client by, "" for nothing.
func (e *encodeFlags) secret() (client.Bearer, error) {
	if e.bearer == "" {
		return "", nil
	}
	text, err := readSmall("--bearer-file", e.bearer)
	if err != nil {
		return "", err
	}
	secret := strings.Fields(string(text))
	if len(secret) != 1 {
		return "", fl.Invalid("--bearer-file", e.bearer, "must hold one word: the secret")
	}
	return client.Bearer(secret[0]), nil
}

// readSmall reads a file of at most 16 KiB.
func readSmall(name, file string) ([]byte, error) {
	const limit = 16 << 10
	in, err := os.Open(file)
	if err != nil {
		return nil, fl.Invalid(name, file, "must be readable: %v", err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && len(text) > limit {
		err = fl.Invalid(name, file, "must have at most %d bytes", limit)
	}
	return text, err
}
