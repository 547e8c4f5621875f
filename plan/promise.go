package plan

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/wrap"
)

// Promise is what a run guarantees each of its clients, or each record that they hold.
type Promise struct {
	// Unit is what the ε are about. For a record read "record" for "client" below.
	Unit Unit `json:"unit"`
	// Local is the ε of one report against everybody, the largest where clients choose.
	// LocalTotal and LocalDelta are the ε and δ of all of a client's reports together,
	// against everybody: a party that links them has them all. They are nil and 0 where there
	// is no such guarantee.
	Local      *float64 `json:"epsilon_local"`
	LocalTotal *float64 `json:"epsilon_local_total"`
	LocalDelta float64  `json:"-"`
	// Central is the ε at Delta of all of a client's reports together, against a party that
	// sees only the shuffled reports of each round. nil where there is no such guarantee.
	Central *float64 `json:"epsilon_central"`
	// TwoServers says that Central holds against either of two servers instead, and against
	// everybody who sees what they release together. See fl.TwoServers.
	TwoServers bool `json:"against_either_server,omitempty"`
	// Honest is Central, but smaller, if at least HonestReports of the Reports of each round are of honest clients, which add a part of the
	// noise. nil where clients add none.
	Honest        *float64 `json:"epsilon_if_honest,omitempty"`
	HonestReports int      `json:"honest_reports,omitempty"`
	Reports       int      `json:"-"`
	Delta         float64  `json:"delta"`
	// Participations is how often a client takes part, at most.
	Participations int `json:"participations"`
	// Seed is the seed of a run that can be repeated, and 0 for any other. A run with a seed
	// promises nothing, so that the ε above are nil.
	Seed uint64 `json:"-"`
}

// String is the promise in a few words: what holds against everybody, what needs a
// shuffler, and that it is about a record where it is.
func (p Promise) String() string {
	if p.Seed != 0 {
		return "no privacy: the seed repeats the noise"
	}
	var parts []string
	if p.Local != nil {
		parts = append(parts, fmt.Sprintf("local ε = %s", above(*p.LocalTotal)))
	}
	if p.Central != nil {
		needs := "if shuffled"
		if p.TwoServers {
			needs = "against either server alone"
		}
		parts = append(parts, fmt.Sprintf("central ε = %s %s", above(*p.Central), needs))
	}
	if p.Honest != nil {
		parts = append(parts, fmt.Sprintf("%s if %d of %d %ss are honest", above(*p.Honest), p.HonestReports, p.Reports, p.sender()))
	}
	if len(parts) == 0 {
		return "no privacy"
	}
	if p.Unit == Record {
		parts = append(parts, "about one record")
	}
	return strings.Join(parts, ", ")
}

// sender is who sends a report.
func (p Promise) sender() string {
	if p.Unit == Record {
		return "site"
	}
	return "client"
}

// Words are sentences about one thing.
type Words struct {
	About string // a heading of two words at most
	Text  []string
}

// Words are the promise in words: first what holds against everybody for all reports of a client
// together, then what holds behind a shuffler alone.
func (p Promise) Words() (out []Words) {
	about := func(heading string, sentences ...string) { out = append(out, Words{heading, sentences}) }
	switch {
	case p.Seed != 0:
		about("privacy", fmt.Sprintf("none: the seed repeats the noise, and a party that guesses %d reads the reports", p.Seed))
	case p.Unit == Record && p.Local != nil:
		rounds := "the round"
		if p.Participations > 1 {
			rounds = fmt.Sprintf("all %d rounds together", p.Participations)
		}
		about("local privacy",
			fmt.Sprintf("ε = %s, δ = %s for one record in %s: against everybody outside of its site, the server included", above(*p.LocalTotal), above(p.LocalDelta), rounds),
			fmt.Sprintf("Someone who has all that the site sends and knows all other records, and guesses which of two records the site has, is right %s of the time (50 %% is a coin toss).", p.accuracy(*p.LocalTotal)),
			severalRecords)
	case p.Local != nil && p.Participations > 1:
		about("local privacy",
			fmt.Sprintf("ε = %s, δ = %s for the %d reports of a client together: against everybody, the server included", above(*p.LocalTotal), above(p.LocalDelta), p.Participations),
			fmt.Sprintf("One report has ε = %s. Someone who reads it, and guesses which of two gradients the client has, is right %s of the time (50 %% is a coin toss).", above(*p.Local), p.accuracy(*p.Local)),
			p.linked())
	case p.Local != nil:
		about("local privacy",
			fmt.Sprintf("ε = %s, δ = %s for the one report of a client: against everybody, the server included", above(*p.LocalTotal), above(p.LocalDelta)),
			fmt.Sprintf("Someone who reads the report, and guesses which of two gradients the client has, is right %s of the time (50 %% is a coin toss).", p.accuracy(*p.Local)))
	case p.TwoServers && p.Unit == Record:
		about("local privacy", "none: the two servers together read a site's sum", severalRecords)
	case p.TwoServers:
		about("local privacy", "none: the two servers together read a client's gradient")
	case p.Central != nil:
		about("local privacy", "none: a party that sees one client's messages together learns its gradient")
	default:
		about("privacy", "none: the server sees every gradient")
	}
	if p.Central == nil {
		return out
	}
	against, assumes := "against anyone who sees only the shuffled reports", "an honest shuffler"
	if p.TwoServers {
		against, assumes = "against either server alone, also with the help of all other clients", "that one of the two servers is honest, no matter which"
	}
	guess := fmt.Sprintf("Someone who sees only that, and guesses which of two inputs the %s has, is right %s of the time (50 %% is a coin toss).", cmp.Or(p.Unit, Client), rightGuesses(*p.Central, p.Delta))
	central := []string{fmt.Sprintf("ε = %s, δ = %g (replace one %s), %s", above(*p.Central), p.Delta, cmp.Or(p.Unit, Client), against), guess}
	if p.Participations > 1 {
		central = append(central, fmt.Sprintf("It is composed over the %d rounds in which a %s takes part.", p.Participations, cmp.Or(p.Unit, Client)))
	}
	about("central privacy", append(central, "This assumes "+assumes+".")...)
	if p.Honest != nil {
		who := p.sender()
		about("honest "+who+"s",
			fmt.Sprintf("ε = %s, δ = %g, against either server alone, if %d or more of the %d reports of each round are of honest %ss", above(*p.Honest), p.Delta, p.HonestReports, p.Reports, who),
			fmt.Sprintf("The guess above is then right %s of the time. An honest %s adds its part of the noise and tells nobody what it added. Nothing checks that: it depends on who can take part.", rightGuesses(*p.Honest, p.Delta), who))
	}
	return out
}

// severalRecords is what no ε of a record covers.
const severalRecords = "A person with several records is protected less than one record. The number of a site's records is public."

// Print writes Words, a line for each sentence and the heading before the first.
func (p Promise) Print(w io.Writer) error {
	for _, words := range p.Words() {
		if err := words.Print(w); err != nil {
			return err
		}
	}
	return nil
}

// indent is the width of headings.
const indent = 19

// Print writes the sentences beside their heading, each on lines of its own, as wide as a terminal.
func (x Words) Print(w io.Writer) error {
	var b strings.Builder
	heading, below := x.About, strings.Repeat(" ", indent)
	for _, sentence := range x.Text {
		fmt.Fprintf(&b, "%-*s%s", indent, heading, strings.TrimPrefix(wrap.Text(sentence, below), below))
		heading = ""
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// digits is how many digits of an ε are printed.
const digits = 4

// above writes a guarantee as it is printed everywhere here: rounded up.
func above(guarantee float64) string { return fl.FormatUp(guarantee, digits) }

// noProtection is the ε from on which nearly all guesses are right: 99.95 % of them.
const noProtection = 7.6

// linked says what somebody learns who has all reports of a client.
func (p Promise) linked() string {
	if *p.LocalTotal > noProtection {
		return "Anyone who can link all reports of a client can tell its gradients apart: against them this ε is no protection."
	}
	return fmt.Sprintf("Anyone who can link all reports of a client is right %s of the time.", p.accuracy(*p.LocalTotal))
}

// accuracy is rightGuesses under a local ε. δ is the δ of all reports, which no single report exceeds.
func (p Promise) accuracy(epsilon float64) string { return rightGuesses(epsilon, p.LocalDelta) }

// rightGuesses is the largest share of right guesses with which any party distinguishes two equally likely inputs
// under ε and δ: (e^ε+δ)/(e^ε+1), rounded up to a tenth of a percent, or to as many digits as it takes to be below 100.
func rightGuesses(epsilon, delta float64) string {
	percent := 100 * (1 + delta*math.Exp(-epsilon)) / (1 + math.Exp(-epsilon))
	for digits, unit := 1, 10.0; digits <= 6; digits, unit = digits+1, 10*unit {
		if up := math.Ceil(percent*unit) / unit; up < 100 {
			return fmt.Sprintf("at most %.*f %%", digits, up)
		}
	}
	return "at most 100 %"
}
