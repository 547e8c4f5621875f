package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
)

// pins are the flags that say which shuffler a client trusts, and what for.
type pins struct {
	shuffler, sealKey string
	shareKey          string // for rounds of two servers, which only verify knows
	epsilon, delta    float64
}

// pinFlags are the names of the flags, the one with a default last.
var pinFlags = []string{"shuffler", "seal-key", "share-key", "max-central-epsilon", "central-delta"}

func (p *pins) bind(f *flag.FlagSet, use string) {
	f.StringVar(&p.shuffler, "shuffler", "", use)
	f.StringVar(&p.sealKey, "seal-key", "", "with --shuffler: `fingerprint` of the server's key, to which reports are sealed; during a rotation the old one and the new one, with a comma between them")
	f.Float64Var(&p.epsilon, "max-central-epsilon", 0, "with --shuffler: refuse a round in which a report costs more against the server")
	f.Float64Var(&p.delta, "central-delta", 1e-6, "with --shuffler: the δ of that ε")
}

func (p *pins) validate(f *flag.FlagSet) error {
	if p.shuffler == "" {
		return command.Unused(f, "without --shuffler", pinFlags[1:]...)
	}
	if _, err := p.sealKeys(); err != nil {
		return fl.Invalid("--seal-key", p.sealKey, "must be a fingerprint with --shuffler: %v", err)
	}
	if _, err := seal.ParseFingerprint(p.shareKey); p.shareKey != "" && err != nil {
		return fl.Invalid("--share-key", p.shareKey, "must be a fingerprint: %v", err)
	}
	switch {
	case !(p.epsilon > 0):
		return fl.Invalid("--max-central-epsilon", p.epsilon, "must be > 0 with --shuffler: the largest ε against the server that is acceptable")
	case !(p.delta > 0 && p.delta < 1):
		return fl.Invalid("--central-delta", p.delta, "must be in (0, 1)")
	}
	return nil
}

// sealKeys are the fingerprints of the server's keys, at least one.
func (p *pins) sealKeys() (keys [][32]byte, err error) {
	for text := range strings.SplitSeq(p.sealKey, ",") {
		key, err := seal.ParseFingerprint(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// policy returns a policy for rounds of the shuffler alone, where one is pinned. MaxEpsilon is then the most that a report by
// itself may cost. The flags have been validated.
func (p *pins) policy(demand fl.Policy) (fl.Policy, error) {
	if p.shuffler == "" {
		return demand, nil
	}
	keys, err := p.sealKeys()
	demand.Shuffled = &fl.ShuffledPolicy{
		Shufflers: []string{p.shuffler}, SealKeys: keys,
		MaxEpsilonLocal: demand.MaxEpsilon, MaxEpsilon: p.epsilon, MaxDelta: p.delta,
	}
	demand.MaxEpsilon = 0
	if p.shareKey != "" && err == nil {
		var key seal.Fingerprint
		key, err = seal.ParseFingerprint(p.shareKey)
		demand.Shuffled.ShareKeys = [][32]byte{key}
	}
	return demand, err
}

// validate checks the flags that --server needs or excludes.
func (e *encodeFlags) validate(f *flag.FlagSet) error {
	e.file = f.Arg(0)
	if !e.remotely() {
		if err := command.Unused(f, "without --server or --relay", append(pinFlags, "max-epsilon", "log-key", "witness", "relay-key", "issuer", "issuer-relay", "issuer-relay-key", "issuer-tls-ca", "issuer-tls-cert", "issuer-tls-key", "bearer-file", "ahead")...); err != nil {
			return err
		}
		if e.round == "-" && e.file == "-" {
			return fl.Invalid("--round", e.round, "must be a file when the pairs come from standard input")
		}
		if e.toStdout() {
			if err := command.Unused(f, "without --out or --server: standard output has the reports", outputFlag); err != nil {
				return err
			}
		} else if err := command.Place("--out", e.out); err != nil {
			return err
		}
		return cmp.Or(e.ledger.validate(f, e.seed), e.remote.validate())
	}
	if err := command.Unused(f, "with --server or --relay, which gets the reports", "out"); err != nil {
		return err
	}
	if err := e.direct(); err != nil {
		return err
	}
	switch {
	case e.seed != 0:
		return fl.Invalid("--seed", e.seed, "must not be given with --server: a round that promises privacy takes no reports that promise nothing")
	case !(e.maxEpsilon > 0):
		return fl.Invalid("--max-epsilon", e.maxEpsilon, "must be > 0 with --server: the largest ε of a report that is acceptable")
	}
	if len(e.ahead) > 0 && (!e.asks() || e.ledger.file == "") {
		return fl.Invalid("--ahead", strings.Join(e.ahead, ","), "needs --issuer or --issuer-relay, which gives the tokens, and --ledger, which keeps them")
	}
	if e.bearer != "" && e.issuer.ca == "" && e.issuerRelay.url == "" {
		return fl.Invalid("--bearer-file", e.bearer, "needs --issuer and --issuer-tls-ca, or --issuer-relay: a secret leaves encrypted only")
	}
	return cmp.Or(e.ledger.validate(f, e.seed), e.pins.validate(f), e.inLog.validate(), e.issuer.validate(), e.remote.validate())
}

// submit encodes for a round of a server and sends the reports there.
func (e *encodeFlags) submit(ctx context.Context, std command.Streams) (failed error) {
	conn, err := e.dialServer()
	if err != nil {
		return err
	}
	defer conn.Close()
	policy, err := e.pins.policy(fl.Policy{MaxEpsilon: e.maxEpsilon})
	if err != nil {
		return err
	}
	opts := client.Options{Policy: policy, LogKey: e.inLog.key, Witnesses: e.inLog.witnesses}
	if e.asks() {
		issuer, err := e.dialIssuer()
		if err != nil {
			return err
		}
		defer issuer.Close()
		opts.Issuer = issuer
	}
	if e.ledger.file != "" {
		kept, err := e.ledger.open()
		if err != nil {
			return err
		}
		defer func() { failed = errors.Join(failed, kept.Close()) }()
		opts.Ledger, opts.Purpose = kept, e.ledger.purpose
	}
	c, err := client.New(conn, opts)
	if err != nil {
		return err
	}
	part, err := c.Join(ctx, e.round)
	if err != nil {
		return err
	}
	if err := e.fetchAhead(ctx, c, part); err != nil {
		return err
	}
	reports, err := e.reportsOf(ctx, part, std)
	if err != nil {
		return err
	}
	receipt, err := part.Submit(ctx, reports)
	if err != nil {
		return err
	}
	sent := encoded{
		Reports: int(receipt.Accepted + receipt.Duplicates), Round: part.Round().ID, Guarantee: promisedBy(part.Guarantee()),
		Server: e.remote.server, Relay: e.relay.url, Shuffler: part.Round().Shuffler, Ahead: e.ahead,
	}
	if central, ok := part.Central(); ok {
		sent.Central = promisedBy(central)
	}
	return e.output.print(std.Out, sent, func(w io.Writer) error {
		if err := printReceipt(w, part, receipt); err != nil || len(e.ahead) == 0 {
			return err
		}
		_, err := fmt.Fprintf(w, "%s has the tokens of %s\n", e.ledger.file, strings.Join(e.ahead, ", "))
		return err
	})
}

// fetchAhead fetches the tokens of this round and of the rounds of --ahead in one call.
func (e *encodeFlags) fetchAhead(ctx context.Context, c *client.Client, part *client.Participation) error {
	if len(e.ahead) == 0 {
		return nil
	}
	parts := []*client.Participation{part}
	for _, id := range e.ahead {
		other, err := c.Join(ctx, id)
		if err != nil {
			return fmt.Errorf("--ahead: round %s: %w", id, err)
		}
		parts = append(parts, other)
	}
	return c.FetchTokens(ctx, parts...)
}

// reportsOf makes the reports of a participation.
func (e *encodeFlags) reportsOf(ctx context.Context, part *client.Participation, std command.Streams) ([][]byte, error) {
	if e.ledger.file != "" {
		report, err := e.oneReport(ctx, part, std)
		return [][]byte{report}, err
	}
	people, err := e.read(ctx, part.Round(), part.Mechanism(), std)
	if err != nil {
		return nil, err
	}
	if n := len(people.order); n != 1 && len(part.Round().IssuerKey) > 0 {
		return nil, fl.Invalid("clients", n, "must be one: the round gives a client one token")
	}
	if err := part.FetchToken(ctx); err != nil {
		return nil, err
	}
	return e.reports(ctx, part.Mechanism(), people, std)
}

// printReceipt says what was sent, and against whom it is protected.
func printReceipt(w io.Writer, part *client.Participation, receipt client.Receipt) error {
	r := part.Round()
	taken := "counted in round " + r.ID
	if r.Shuffler != "" {
		taken = fmt.Sprintf("taken in for round %s by the shuffler %s", r.ID, r.Shuffler)
	}
	// Duplicates are those that an interrupted attempt had already got counted.
	if _, err := fmt.Fprintf(w, "%s under %v: %s\n", counted(receipt.Accepted+receipt.Duplicates, "report"), part.Guarantee(), taken); err != nil {
		return err
	}
	central, ok := part.Central()
	if !ok {
		return nil
	}
	_, err := fmt.Fprintf(w, "against the server: %v, if %s does not work together with it and %d of the reports are from honest clients\n", central, r.Shuffler, r.MinReports)
	return err
}
