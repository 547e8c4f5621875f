package main

import (
	"context"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/admit/issuer"
	"github.com/hushgrad/hushgrad/server/client"
)

// pemKey is the type of the PEM block of an issuer's key.
const pemKey = "PUBLIC KEY"

// issuerFlags are the flags of commands that talk to the issuer as its operator.
type issuerFlags struct {
	*flag.FlagSet
	remote remote
	round  string
}

func newIssuerFlags(name, help string, stderr io.Writer) *issuerFlags {
	f := &issuerFlags{FlagSet: newFlags("issue "+name, fmt.Sprintf("Usage: hushgrad issue %s [flags]\n\n%s\n\n", name, help), stderr)}
	f.remote.bindParty(f.FlagSet, "server", "", "hushgrad issue", "its operator's listener")
	return f
}

// bindRound adds the flag that names a round.
func (f *issuerFlags) bindRound() { f.StringVar(&f.round, "id", "", "name of the round") }

// dial parses the flags and returns a connection.
func (f *issuerFlags) dial(args []string) (*grpc.ClientConn, error) {
	if err := command.ParseOnly(f.FlagSet, args); err != nil {
		return nil, err
	}
	switch {
	case f.remote.server == "":
		return nil, fl.Invalid("-server", "", "is required: the operator's listener of hushgrad issue")
	case f.Lookup("id") != nil && f.round == "":
		return nil, fl.Invalid("-id", "", "is required: the name of a round")
	}
	if err := f.remote.validate(); err != nil {
		return nil, err
	}
	return f.remote.dial()
}

// issueKey makes the key of a round and prints it.
func issueKey(ctx context.Context, args []string, std command.Streams) error {
	f := newIssuerFlags("key", `Makes the key of a round on the issuer and prints it as PEM, for hushgrad round
-issuer-key. Called again without -life it prints the same key.`, std.Err)
	f.bindRound()
	life := f.Duration("life", issuer.DefaultLife, "time until the issuer destroys the key: longer than the round lasts")
	conn, err := f.dial(args)
	if err != nil {
		return err
	}
	defer conn.Close()
	req := &service.CreateKeyRequest{RoundId: f.round}
	if command.Given(f.FlagSet, "life") {
		req.Expires = timestamppb.New(time.Now().Add(*life))
	}
	resp, err := service.NewIssuerOperatorClient(conn).CreateKey(ctx, req)
	if err != nil {
		return err
	}
	return pem.Encode(command.Writer(ctx, std.Out), &pem.Block{Type: pemKey, Bytes: resp.GetKey().GetPublicKey()})
}

// issueKeys lists the keys.
func issueKeys(ctx context.Context, args []string, std command.Streams) error {
	conn, err := newIssuerFlags("keys", "Lists the rounds that have a key, how many clients have a token, and when the keys end.", std.Err).dial(args)
	if err != nil {
		return err
	}
	defer conn.Close()
	resp, err := service.NewIssuerOperatorClient(conn).ListKeys(ctx, &service.ListKeysRequest{})
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(command.Writer(ctx, std.Out), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "round\tissued\texpires")
	for _, k := range resp.GetKeys() {
		fmt.Fprintf(table, "%s\t%d\t%s\n", k.GetRoundId(), k.GetIssued(), k.GetExpires().AsTime().Format(time.RFC3339))
	}
	return table.Flush()
}

// issueDrop destroys a key.
func issueDrop(ctx context.Context, args []string, std command.Streams) error {
	f := newIssuerFlags("drop", `Destroys the key of a round and the record of who had a token under it. Tokens that clients
have already stay good.`, std.Err)
	f.bindRound()
	conn, err := f.dial(args)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = service.NewIssuerOperatorClient(conn).DropKey(ctx, &service.DropKeyRequest{RoundId: f.round})
	return err
}

// readIssuerKey puts the key of a file of hushgrad issue key into a round.
func readIssuerKey(r *fl.Round, file string) error {
	if file == "" {
		return nil
	}
	text, err := readSmall("-issuer-key", file)
	if err != nil {
		return err
	}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != pemKey || len(strings.TrimSpace(string(rest))) > 0 {
		return fl.Invalid("-issuer-key", file, "must hold one PEM block %q", pemKey)
	}
	r.IssuerKey = block.Bytes
	return nil
}

// dialIssuer returns the connection by which a client gets its token.
func (e *encodeFlags) dialIssuer() (*grpc.ClientConn, error) {
	if e.bearer == "" {
		return e.issuer.dial()
	}
	text, err := readSmall("-bearer-file", e.bearer)
	if err != nil {
		return nil, err
	}
	secret := strings.Fields(string(text))
	if len(secret) != 1 {
		return nil, fl.Invalid("-bearer-file", e.bearer, "must hold one word: the secret")
	}
	return e.issuer.dial(grpc.WithPerRPCCredentials(client.Bearer(secret[0])))
}

// readSmall reads a file of at most 16 KiB.
func readSmall(name, file string) ([]byte, error) {
	const limit = 16 << 10
	in, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && len(text) > limit {
		err = fl.Invalid(name, file, "must have at most %d bytes", limit)
	}
	return text, err
}
