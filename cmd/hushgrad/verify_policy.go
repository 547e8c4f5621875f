package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/command"
)

// policyFlags are a client's policy. A flag that hushgrad encode has, too, has its name there.
type policyFlags struct {
	fl.Policy
	pins     pins
	relation string
	flags    []string // their names
}

func (p *policyFlags) bind(f *flag.FlagSet) {
	f.Float64Var(&p.MaxEpsilon, "max-epsilon", 0, "refuse a round in which a report costs more")
	f.Float64Var(&p.MaxDelta, "max-delta", 0, "refuse a round in which a report has a larger δ")
	f.IntVar(&p.MinReports, "min-reports", 0, "refuse a round that releases an estimate of fewer reports")
	f.IntVar(&p.MaxDim, "max-dim", fl.DefaultMaxDim, "refuse a round of more coordinates")
	p.relation = fl.ReplaceOne.String()
	command.OneOf(f, &p.relation, "relation", "", []string{fl.ReplaceOne.String(), fl.ZeroOut.String()}, "weakest relation that is acceptable: replace-one, or zero-out")
	f.StringSliceVar(&p.Mechanisms, "mechanism", nil, "comma-separated `names` of the mechanisms that are acceptable; not given: all but "+hdsum.SharesName)
	f.StringVar(&p.Features, "features", "", "what the round's features must be, with their digest; empty: any")
	f.BoolVar(&p.TrustShuffler, "trust-shuffler", false, "accept a guarantee that holds against a party that sees only shuffled reports, and not against the shuffler")
	f.BoolVar(&p.AcceptRealNumbers, "accept-real-numbers", false, "accept a guarantee that is proved for real numbers only; the code does not keep it")
	p.pins.bind(f, "`name` of the shuffler that is trusted not to work together with the server; no round without it is accepted then")
	f.StringVar(&p.pins.shareKey, "share-key", "", "with --shuffler: `fingerprint` of the shuffler's key, to which the second shares of a mechanism for two servers are sealed; empty: refuse such rounds")
	f.VisitAll(func(one *flag.Flag) { p.flags = append(p.flags, one.Name) })
}

// asked says whether a policy was given.
func (p *policyFlags) asked(f *flag.FlagSet) bool {
	return slices.ContainsFunc(p.flags, func(name string) bool { return command.Given(f, name) })
}

func (p *policyFlags) validate(f *flag.FlagSet) error {
	switch {
	case !(p.MaxEpsilon > 0):
		return fl.Invalid("--max-epsilon", p.MaxEpsilon, "must be > 0 with the flags of a policy: the largest ε of a report that is acceptable")
	case !(p.MaxDelta >= 0 && p.MaxDelta < 1):
		return fl.Invalid("--max-delta", p.MaxDelta, "must be in [0, 1)")
	case p.MinReports < 0:
		return fl.Invalid("--min-reports", p.MinReports, "must be at least 0")
	case p.MaxDim < 1 || p.MaxDim > fl.MaxDim:
		return fl.Invalid("--max-dim", p.MaxDim, "must be in [1, %d]", fl.MaxDim)
	}
	for _, name := range p.Mechanisms {
		if !slices.Contains(fl.Mechanisms(), name) {
			return fl.Invalid("--mechanism", name, "must be among %s%s", strings.Join(fl.Mechanisms(), ", "), command.Meant(command.Similar(fl.Mechanisms(), name)))
		}
	}
	return p.pins.validate(f)
}

// joining is whether to join a round.
type joining struct {
	Round string `json:"round"`
	Join  bool   `json:"join"`
	// Reason says why not.
	Reason string `json:"reason,omitempty"`
	// Records says that reports are sums of records: the guarantees are then about one record.
	Records bool `json:"about_records,omitempty"`
	// Guarantee is what one report promises, and Central what it promises behind the shuffler. They are null for a round
	// that is refused.
	Guarantee *promised `json:"guarantee"`
	Central   *promised `json:"central_guarantee"`
}

// answer says whether a client with this policy joins the round of a file.
func (p *policyFlags) answer(ctx context.Context, file string, form output, std command.Streams) error {
	round, err := readRound(file, std.In)
	if err != nil {
		return err
	}
	terms, err := p.terms(ctx, round)
	if err != nil && !errors.Is(err, fl.ErrPolicy) {
		return err
	}
	said := joining{Round: round.ID, Join: err == nil, Records: round.AboutRecords()}
	if err != nil {
		said.Reason = strings.ReplaceAll(err.Error(), "fl: "+fl.ErrPolicy.Error()+": ", "")
		refused := fmt.Errorf("do not join round %s: %s", round.ID, said.Reason)
		return errors.Join(form.print(std.Out, said, func(io.Writer) error { return nil }), refused)
	}
	said.Guarantee = promisedBy(terms.Guarantee)
	text := fmt.Sprintf("join round %s: a report promises %v", round.ID, terms.Guarantee)
	if round.AboutRecords() {
		text += ", for one record where it is a sum of records"
	}
	if terms.Central.Trust.Known() {
		said.Central = promisedBy(terms.Central)
		text += fmt.Sprintf(", and %v against the server, if %s does not work together with it and %d of the reports are from honest clients",
			terms.Central, round.Shuffler, round.MinReports)
	}
	return form.printf(std.Out, said, "%s\n", text)
}

// terms returns what the round promises a client that joins.
func (p *policyFlags) terms(ctx context.Context, r fl.Round) (fl.Terms, error) {
	if err := p.CheckRound(r); err != nil { // before the memory that the round may take
		return fl.Terms{}, err
	}
	m, err := command.Await(ctx, func() (fl.Mechanism, error) { return fl.Open(r) })
	if err != nil {
		return fl.Terms{}, err
	}
	policy, err := p.pins.policy(p.Policy)
	if err != nil {
		return fl.Terms{}, err
	}
	if p.relation == fl.ZeroOut.String() {
		policy.Relation = fl.ZeroOut
	}
	if policy.Shuffled != nil {
		if err := policy.CheckShuffler(r); err != nil {
			return fl.Terms{}, err
		}
	}
	if m.Guarantee().Trust == fl.TwoServers {
		policy.MaxEpsilon = p.MaxEpsilon // there is no guarantee of a report by itself
	}
	return command.Await(ctx, func() (fl.Terms, error) { return new(fl.Accepter).Accept(policy, r, m) })
}
