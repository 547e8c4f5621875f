package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/mechanisms"
)

// Unit is what a budget protects.
type Unit string

// What a budget may protect.
const (
	Client Unit = "client" // all data of a client, as of a telephone
	Record Unit = "record" // one of many people's records that a site holds, as a hospital does
)

// Row is what one trust makes of a budget.
type Row struct {
	Trust     Trust  `json:"trust"`
	Mechanism string `json:"mechanism"` // "" where the trust does not serve this federation
	// Epsilon is the ε of everything that a client or record ever sends, against the party that Against names. It is at
	// most the budget. Delta is its δ.
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Against string  `json:"against"`
	// Local is the ε of the same reports against everybody, δ = 0, and LocalReport the ε of one of them; nil where there is none.
	Local       *float64 `json:"epsilon_against_everybody"`
	LocalReport *float64 `json:"epsilon_of_report_against_everybody"`
	// Error is the L2 norm of the noise of one round's mean, and ErrorOfRun the L2 norm of the noise of the mean over all rounds, both
	// over the norm of a gradient. Above 1 noise is larger than any signal. What a clip cuts is not in them, but in Off.
	Error      float64 `json:"error_of_round"`
	ErrorOfRun float64 `json:"error_of_run"`
	// Off is how far the estimate is off the mean gradient of the public sample, over that gradient's norm: clip and noise of the whole
	// run together, at the best multiple of the estimate. 1 is as bad as none. nil without a sample.
	Off *float64 `json:"off"`
	// Expected is the run's, on the request's Examples.
	Expected *Expected `json:"expected_accuracy"`
	// Reports is how often a client or site sends something in the whole run, and Bytes are all of it.
	Reports int     `json:"reports"`
	Bytes   float64 `json:"bytes"`
	// Why says why the trust does not serve; "" otherwise.
	Why string `json:"why,omitempty"`
}

// Compare plans the request for the given trusts, all of Trusts where none is given, with the same budget. Without Records every
// client holds its own data, and OwnSite does not serve.
//
// The error of Server is the exact one of Gaussian noise that is composed over the rounds, 30 unless the request says how many.
// Cost: Run's, for each trust. Shuffler takes most of it.
func (q Request) Compare(ctx context.Context, trusts ...Trust) ([]Row, error) {
	if len(trusts) == 0 {
		trusts = Trusts()
	}
	for _, trust := range trusts {
		if err := trust.validate(); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
	}
	if q.Examples != nil && q.Public == nil {
		var err error
		if q.Public, err = q.Examples.Sample(); err != nil {
			return nil, err
		}
	}
	if q.Public != nil {
		q.L1, q.L2 = q.Public.Norms()
	}
	q.Mechanism, q.Epsilon, q.MaxEpsilon, q.Force = mechanisms.Auto, 0, 0, true
	q.withoutHonest()
	q.Budget = cmp.Or(q.Budget, 1)
	if q.Records > 0 {
		q.Trust, q.Cohort, q.PerClient = OwnSite, 0, 1
		sites := q
		sites.Sparsity = 0 // of other trusts
		sites.withoutTwoServers()
		if err := sites.validate(); err != nil { // before rows say that they are not served
			return nil, fmt.Errorf("plan: %w", err)
		}
	}
	q.Seed = 0 // figures are for runs that promise something
	var out []Row
	for _, trust := range trusts {
		row := Row{Trust: trust, Against: trust.Against(), Epsilon: q.Budget, Delta: q.Delta}
		var err error
		switch {
		case trust == OwnSite && q.Records == 0:
			row.Why = "clients hold their own data"
		case trust.planned():
			err = row.planned(ctx, q)
		default:
			err = row.gaussian(ctx, q)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// withoutTwoServers leaves out what is for two servers alone.
func (q *Request) withoutTwoServers() { q.Proof, q.OwnBudget, q.HonestBudget, q.Honest = "", 0, 0, 0 }

// planned fills a row from a run.
func (r *Row) planned(ctx context.Context, q Request) error {
	if q.Trust = r.Trust; q.Trust != Shuffler && (q.Records == 0 || gaussianFor(q.Trust) == "") {
		q.Rounds = 0 // few rounds with more reports in each
	}
	if gaussianFor(q.Trust) != "" {
		q.Sparsity = 0 // of the other trusts' mechanisms
	}
	if q.Trust != TwoServers {
		q.withoutTwoServers()
	}
	run, err := q.Run(ctx)
	if _, ok := errors.AsType[*fl.ParamError](err); ok {
		r.Why = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	p, err := run.Promise(ctx, run.Affordable)
	if err != nil {
		return err
	}
	r.Mechanism = run.Mechanism
	switch {
	case r.Trust.Local():
		r.Epsilon, r.Delta = *p.LocalTotal, p.LocalDelta
	case p.Central != nil:
		r.Epsilon = *p.Central
	}
	if r.Trust != OwnSite {
		r.Local, r.LocalReport = p.LocalTotal, p.Local
	}
	noise, _, left := run.noise(q)
	r.ErrorOfRun = noise * math.Sqrt(float64(q.Dim)) / q.L2
	r.Error = r.ErrorOfRun * math.Sqrt(float64(run.Rounds))
	if left != nil {
		r.off(q, *left, noise)
	}
	r.Expected = run.Expected
	r.Reports = run.participations()
	if m, ok := run.Opened.(fl.ReportSizer); ok {
		r.Bytes = float64(m.ReportBytes() * r.Reports)
	}
	return nil
}

// valueBytes is the length of a coordinate of what a client of a trusted server sends.
const valueBytes = 4

// off fills in how far the run's estimate is off, with noise of a standard error per coordinate.
func (r *Row) off(q Request, left kept, noise float64) {
	off := math.Sqrt(q.Public.loss(left, noise*noise*float64(q.Dim)))
	r.Off = &off
}

// gaussian fills a row by a trusted server's Gaussian noise on sums of clipped gradients: of all rounds together, which is one query of
// √rounds times the sensitivity, replace-one. The clip is the gradients' norm, or the best one for a sample.
func (r *Row) gaussian(ctx context.Context, q Request) error {
	q.Rounds = cmp.Or(q.Rounds, leastRounds)
	rounds, vectors := float64(q.Rounds), cmp.Or(q.Records, q.Clients)
	sigma, err := baseline.GaussianSigma(q.Budget, q.Delta, 2*math.Sqrt(rounds))
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	r.Mechanism = baseline.Gaussian
	r.Reports = q.Rounds
	r.Bytes = valueBytes * float64(q.Dim) * rounds
	unit := sigma / float64(vectors) // of a coordinate in a round, for gradients of norm 1
	share := 1.
	if q.Public != nil {
		share = q.wholeShare(unit/math.Sqrt(rounds), q.Liars) // who are clipped, too
	}
	deviation := unit * share * q.L2
	if q.Public != nil {
		r.off(q, *q.Public.kept(wholeClip(share * q.L2)), deviation/math.Sqrt(rounds))
	}
	r.Error = unit * share * math.Sqrt(float64(q.Dim))
	r.ErrorOfRun = r.Error / math.Sqrt(rounds)
	if q.Examples == nil {
		return nil
	}
	rule := stepsFor(q.Centred)
	first := &Run{}
	if votes := deviation / (share * q.L2) / math.Sqrt(rounds); q.ZeroShot > 0 {
		rule = rule.warm(votes)
		first.Outlook = &Outlook{Factor: warmFactor(votes)}
	}
	r.Expected, err = rehearsal{
		on: q.Examples, first: first.First(q.first()), perClient: max(1, q.PerClient), clients: vectors, cohort: vectors, rounds: q.Rounds,
		clip: wholeClip(share * q.L2), noise: noise{deviation: deviation}, steps: rule.clipped(share).steps(deviation, q.L2, q.Rounds), plain: q.plainSteps(q.Rounds),
		centring: q.centring(q.Rounds, share*q.L2, 0, deviation), quick: q.Quick, progress: q.Progress,
	}.expect(ctx)
	return err
}

// PrintRows writes a table of rows, each ε with the party that it holds against.
func PrintRows(w io.Writer, rows []Row, unit Unit) error {
	if err := paragraphs(w, fmt.Sprintf(`whom to trust: the same budget for each. ε is of everything that a %s ever sends, against the named party. error is
the L2 norm of the noise of a round's mean, over the norm of a gradient: above 1 it is larger than any signal. What a
clip cuts is not in it. bytes are of the whole run, and behind a shuffler of bare reports: the seal and its tokens add some 760 to each. off is clip and noise of the whole run together: 1 is as bad as no estimate. accuracy is expected on public examples.`, unit)); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(table, "  trust\tε\tagainst\terror\toff\tbytes\taccuracy")
	for _, r := range rows {
		if r.Mechanism == "" {
			fmt.Fprintf(table, "  %s\t–\t\t\t\t\t\n", r.Trust)
			continue
		}
		off, accuracy := "–", "–"
		if r.Off != nil {
			off = fmt.Sprintf("%.2g", *r.Off)
		}
		if r.Expected != nil {
			accuracy = r.Expected.short()
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%.2g\t%s\t%.3g\t%s\n", r.Trust, above(r.Epsilon), r.Against, r.Error, off, r.Bytes, accuracy)
	}
	fmt.Fprintln(table)
	if err := table.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		switch {
		case r.Mechanism == "":
			if err := paragraphs(w, fmt.Sprintf("%s does not serve here: %s.", r.Trust, r.Why)); err != nil {
				return err
			}
		case r.Trust == Shuffler && r.Local != nil:
			if err := paragraphs(w, fmt.Sprintf("%s: against everybody the same reports have ε = %s together.", r.Trust, above(*r.Local))); err != nil {
				return err
			}
		}
	}
	return nil
}
