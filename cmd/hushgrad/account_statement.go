package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
)

const statementHelp = `Writes one page for those who answer for the data, such as a data-protection officer: what
leaves a client in the round of FILE, what that promises, against whom, and what it does not promise.
It is Markdown. Rounds like that one compose over --rounds. FILE is as in hushgrad verify.

  hushgrad account statement --rounds 30 round.json
`

// statementFlags are the flags of account statement.
type statementFlags struct {
	rounds int
	delta  float64
	file   string
	output output
}

func newStatement() *cobra.Command {
	c := newJob("statement [flags] FILE", "one page on what a round promises, for a data-protection officer", statementHelp, &statementFlags{})
	c.Args = oneArgument("file, or -,")
	return c
}

func (s *statementFlags) bind(f *flag.FlagSet) {
	f.IntVar(&s.rounds, "rounds", 1, "rounds like this one in which a client takes part, at most")
	f.Float64Var(&s.delta, "delta", 1e-6, "δ at which ε is stated, where rounds compose")
	s.output.bind(f)
}

func (s *statementFlags) validate(f *flag.FlagSet) error {
	s.file = f.Arg(0)
	switch {
	case s.rounds < 1:
		return fl.Invalid("--rounds", s.rounds, "must be at least 1")
	case !(s.delta > 0 && s.delta < 1):
		return fl.Invalid("--delta", s.delta, "must be in (0, 1)")
	}
	return nil
}

// section is a part of a statement.
type section struct {
	Title string   `json:"title"`
	Lines []string `json:"lines"`
}

func (s *statementFlags) run(ctx context.Context, std command.Streams) error {
	r, err := readRound(s.file, std.In)
	if err != nil {
		return err
	}
	r, m, err := fl.Complete(r)
	if err != nil {
		return err
	}
	all, err := command.Await(ctx, func() ([]section, error) { return s.sections(ctx, r, m) })
	if err != nil {
		return err
	}
	return s.output.print(std.Out, map[string]any{"round": r.ID, "sections": all}, func(w io.Writer) error {
		var b strings.Builder
		fmt.Fprintf(&b, "# What round %s promises\n", r.ID)
		for _, part := range all {
			fmt.Fprintf(&b, "\n## %s\n\n", part.Title)
			for _, line := range part.Lines {
				fmt.Fprintf(&b, "- %s\n", line)
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// sections are the parts of the statement about a round.
func (s *statementFlags) sections(ctx context.Context, r fl.Round, m fl.Mechanism) ([]section, error) {
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	cohort := max(2, r.MinReports)
	spending, err := plan.NewSpending(m, cohort, cohort, s.delta)
	if err != nil {
		return nil, err
	}
	promise, err := spending.Promise(ctx, s.rounds)
	if err != nil {
		return nil, err
	}
	g, about := m.Guarantee(), "client"
	records := r.AboutRecords()
	if records {
		about = "record"
	}
	leaves := []string{fmt.Sprintf("Each client sends one report in a round, made by the mechanism %s from %d numbers: what its data would change in the model, clipped to the norm of the round.", r.Mechanism, r.Dim)}
	if sizer, ok := m.(fl.ReportSizer); ok {
		leaves = append(leaves, fmt.Sprintf("A report has %d bytes, whatever the data is. Seals, tokens and connections come on top.", sizer.ReportBytes()))
	}
	if records {
		leaves = append(leaves, "The report is of the sum of the client's records. The number of these records is not hidden.")
	}
	leaves = append(leaves, "That a client takes part, and when, is not hidden.")
	return []section{
		{"What leaves a client", leaves},
		{"What is promised", s.promises(g, promise, about)},
		{"What is not promised", withheld(g, promise, records)},
		{"Other clients", others(g, r, promise)},
		{"The round", []string{
			fmt.Sprintf("Its description has the SHA-256 digest %x. Every other round has another one.", digest),
			fmt.Sprintf("The neighbouring relation is %s: one %s's data is exchanged, or taken away where it is zero-out.", g.Relation, about),
			fmt.Sprintf("This page was written by hushgrad account statement --rounds %d --delta %g.", s.rounds, s.delta),
		}},
	}, nil
}

// promises say what holds, and against whom. Every ε is rounded up.
func (s *statementFlags) promises(g fl.Guarantee, p plan.Promise, about string) []string {
	holds := func(epsilon, delta float64, against string) string {
		return fmt.Sprintf("(ε, δ) = (%s, %s) for one %s, over the %d rounds in which it takes part, against %s.", fl.FormatUp(epsilon, 4), fl.FormatUp(delta, 3), about, s.rounds, against)
	}
	var out []string
	if g.Trust == fl.NoPrivacy {
		return []string{"Nothing. Whoever reads a report reads the data's part in the model."}
	}
	if p.LocalTotal != nil {
		out = append(out, holds(*p.LocalTotal, p.LocalDelta, "everybody outside of the client, every server included. Nobody has to be trusted"))
	}
	switch {
	case g.Trust == fl.TwoServers && p.Central != nil:
		out = append(out, holds(*p.Central, p.Delta, "either of the two servers, whatever it does, also with the help of all other clients. One of the two servers has to be honest, no matter which"))
	case p.Central != nil:
		out = append(out, holds(*p.Central, p.Delta, "a party that sees only the shuffled reports of each round. The shuffler has to be honest"))
	}
	if p.Honest != nil {
		out = append(out, holds(*p.Honest, p.Delta, fmt.Sprintf("either of the two servers, if %d or more of the counted reports of each round are of honest clients. This promise is beside the one above, which needs no honest client", p.HonestReports)))
	}
	if g.RealNumbers {
		out = append(out, "The proof is about real numbers only. The code does not keep it.")
	}
	return out
}

// withheld says what does not hold.
func withheld(g fl.Guarantee, p plan.Promise, records bool) []string {
	out := []string{"Conclusions that follow from what holds for everybody are not prevented.", "Reports of other rounds, and what became public otherwise, are not counted."}
	if records {
		out = append(out, "A person with several records is protected less than one record says: k records change the sum by up to k times as much.")
	} else {
		out = append(out, "A person whose data several clients hold is protected less.")
	}
	if p.Honest != nil {
		out = append(out, fmt.Sprintf("Nobody checks that %d clients of a round are honest. A client that tells a server what noise it added counts as none.", p.HonestReports))
	}
	switch {
	case g.Trust == fl.TwoServers && p.LocalTotal != nil:
		out = append(out, "The smaller ε does not hold against the two servers together. They read every report with the client's own noise alone.")
	case g.Trust == fl.TwoServers:
		out = append(out, "The two servers together read every report. Have them run by organisations that do not act together.")
	case g.Trust == fl.Shuffle:
		out = append(out, "A party that sees the messages of one client together reads its data's part in the model. There is no promise against the shuffler.")
	case g.Trust == fl.Local && p.Central != nil:
		out = append(out, "The smaller ε does not hold against a party that sees which client a report came from.")
	}
	return out
}

// others say what other clients change.
func others(g fl.Guarantee, r fl.Round, p plan.Promise) []string {
	least := fmt.Sprintf("Nothing is released of fewer than %d reports.", r.MinReports)
	switch {
	case g.Trust == fl.NoPrivacy:
		return []string{least}
	case g.Trust == fl.Shuffle:
		return []string{least, fmt.Sprintf("The noise is spread over the clients. The promise counts on the reports of %d honest ones: clients that work together with the server, or drop out, weaken it.", r.MinReports)}
	case p.Honest != nil:
		return []string{least, fmt.Sprintf("Clients that work together with one server, or drop out, do not weaken the larger ε: the servers' noise keeps it. The smaller ε counts on the noise of %d honest clients.", p.HonestReports), "It takes two organisations beside the clients."}
	case g.Trust == fl.TwoServers:
		return []string{least, "Clients that work together with one server, or drop out, do not weaken the promise: each server adds the whole noise.", "It takes two organisations beside the clients."}
	case g.Sigma > 0:
		return []string{fmt.Sprintf("The server states no mean of fewer than %d reports. Each report leaves its client all the same.", r.MinReports), "Clients that work together with the server, or drop out, do not weaken the promise: each client adds the whole noise.", "It takes no other organisation."}
	}
	return []string{least, "Clients that work together with the server, or drop out, do not weaken the first promise. The second one counts on the reports of as many honest clients as are released together at least."}
}
