package parties

import (
	"fmt"
	"io"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
)

// sees is what a set of parties sees.
type sees struct{ who, what string }

// holding is what holds against sets of parties.
type holding struct {
	what    string
	against []sees
}

// Print writes against whom what holds for all reports of a client together, or for one server that nothing shuffles.
func (o Options) Print(w io.Writer, p plan.Promise, cohort int) error {
	if !o.Apart {
		return plan.Words{Text: []string{"No shuffler runs here. The central ε is what one would give, and does not bind the demo's server. Type --roles 3 to run one."}}.Print(w)
	}
	reports := "the one report of a client"
	switch {
	case p.Unit == plan.Record:
		reports = fmt.Sprintf("one record in all %d rounds together", p.Participations)
	case p.Participations > 1:
		reports = fmt.Sprintf("the %d reports of a client together", p.Participations)
	}
	behave := "if the parties do what they should and look at all they see"
	if p.TwoServers {
		behave = "whatever the parties in a line do"
	}
	text := fmt.Sprintf("for %s, %s:", reports, behave)
	if err := (plan.Words{About: "against", Text: []string{text}}).Print(w); err != nil {
		return err
	}
	for _, h := range holds(p) {
		fmt.Fprintf(w, "  %s against\n", h.what)
		for _, row := range h.against {
			fmt.Fprintf(w, "    %-19s  sees %s\n", row.who, row.what)
		}
	}
	hidden := fmt.Sprintf("The central ε counts on %d honest clients in every round. Reports that are made up hide nobody. They need tokens: only the issuer can make up some, together with the aggregator or the shuffler.", cohort)
	if p.TwoServers {
		hidden = "The central ε counts on no other client: the noise of shuffler and aggregator each is enough for it, so that one honest one of them is enough."
	}
	return plan.Words{Text: []string{
		hidden,
		"Sealed reports are as safe as HPKE with X25519.",
		"In this demo one user runs all three parties on one machine and sees everything.",
	}}.Print(w)
}

// holds lists all sets of the three parties by what holds against them.
func holds(p plan.Promise) []holding {
	central := fmt.Sprintf("central ε = %s, δ = %g", fl.FormatUp(*p.Central, 4), p.Delta)
	if p.TwoServers {
		together, both := "no privacy", "both shares: the gradients"
		switch {
		case p.LocalTotal != nil:
			together, both = local(p), "both shares: each gradient with its client's noise"
		case p.Unit == plan.Record:
			both = "both shares: the sums of sites"
		}
		return []holding{
			{central, []sees{
				{"issuer", "who asks for tokens, and the models"},
				{"shuffler", "who sends which share, and the models"},
				{"aggregator", "the other shares and the sums"},
				{"issuer+shuffler", "who sends which share, and the models"},
				{"issuer+aggregator", "the other shares, the sums; tokens name no client"},
			}},
			{together, []sees{
				{"shuffler+aggregator", both},
				{"all three", both},
			}},
		}
	}
	return []holding{
		{central, []sees{
			{"issuer", "who asks for tokens, and the models"},
			{"shuffler", "who sends sealed reports, and the models"},
			{"aggregator", "the shuffled reports"},
			{"issuer+shuffler", "who takes part, and the models"},
			{"issuer+aggregator", "the shuffled reports; tokens name no client"},
		}},
		{local(p), []sees{
			{"shuffler+aggregator", "whose each report is"},
			{"all three", "whose each report is"},
		}},
	}
}

func local(p plan.Promise) string {
	return fmt.Sprintf("local ε = %s, δ = %g", fl.FormatUp(*p.LocalTotal, 4), p.LocalDelta)
}
