package scale

import (
	"fmt"
	"math"
	"runtime"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// columns of a result. Rows that were computed from another one lack what has to be measured.
var columns = []string{
	"clients", "simulated", "rounds", "dim", "sparsity", "reports", "seconds", "reports_per_second", "bytes_per_report", "bytes",
	"server_core_seconds", "client_core_seconds", "server_core_seconds_per_million", "client_core_seconds_per_million",
	"peak_server_bytes", "journal_bytes", "closing_seconds", "price", "price_per_million",
	"error", "error_predicted", "error_exact", "dropped", "late_refused", "sent_again", "liars", "pull", "pull_stderr", "pull_expected", "pull_bound",
	"price_core_hour", "price_gb_in", "price_gb_month",
}

// row is what a simulated round came to.
func (o *outcome) row() experiment.Row {
	million := o.sent / 1e6
	price := o.prices.of(o.server, o.bytes, o.journal)
	return experiment.Row{
		int64(o.clients), true, int64(1), o.dim, o.sparsity, o.sent, o.seconds, o.sent / o.seconds, o.bytes / o.sent, o.bytes,
		o.server, o.tally.devices, o.server / million, o.tally.devices / million,
		o.memory, o.journal, o.closing, price, price / million,
		o.noise, o.predicted, o.exact(), o.dropped, o.refused, o.duplicates, o.liars(), o.pull, o.pullStdErr, o.expectedPull(), o.pullBound(),
		o.prices.coreHour, o.prices.gigabyteIn, o.prices.gigabyteMonth,
	}
}

// exact is the root of the expected squared error, by the formula of the mechanism.
func (o *outcome) exact() float64 { return math.Sqrt(o.mse / o.sent) }

// extrapolated is a number of clients that is computed from o: what is paid for each report grows
// with the reports, and the error falls with their root. A round has at most fl.MaxReports
// reports, so that more clients are several rounds, whose estimates are averaged.
func (o *outcome) extrapolated(clients int) experiment.Row {
	times := float64(clients) / float64(o.clients)
	reports := o.sent * times
	rounds := math.Ceil(reports / fl.MaxReports)
	journal := o.journal * times
	price := o.prices.of(o.server*times, o.bytes*times, journal)
	million := reports / 1e6
	return experiment.Row{
		int64(clients), false, int64(rounds), o.dim, o.sparsity, reports, nil, nil, o.bytes / o.sent, o.bytes * times,
		o.server * times, o.tally.devices * times, o.server / o.sent * 1e6, o.tally.devices / o.sent * 1e6,
		nil, journal, nil, price, price / million,
		nil, nil, o.exact() / math.Sqrt(times), nil, nil, nil, nil, nil, nil, o.expectedPull(), o.pullBound(),
		o.prices.coreHour, o.prices.gigabyteIn, o.prices.gigabyteMonth,
	}
}

func (s *setting) report(found []*outcome) *experiment.Result {
	r := &experiment.Result{Columns: columns}
	largest := found[0]
	for _, o := range found {
		r.Rows = append(r.Rows, o.row())
		r.Verdicts = append(r.Verdicts, o.verdicts()...)
		if o.clients > largest.clients {
			largest = o
		}
	}
	for _, n := range s.extrapolate {
		if n > largest.clients {
			r.Rows = append(r.Rows, largest.extrapolated(n))
		}
	}
	r.Notes = []string{
		fmt.Sprintf("CoCo, d = %d, s = %d, ε = %g, %d reports in a message.", s.dim, s.sparsity, s.epsilon, s.batch),
		s.rates.String(),
		"Prices are assumed. What is not simulated is computed: docs/sizing.md.",
	}
	return r
}

// withinHour is the time in which every simulated round should end.
const withinHour = 3600

func (o *outcome) verdicts() []experiment.Verdict {
	who := experiment.Grouped(float64(o.clients)) + " clients: "
	n := experiment.Grouped
	expected, bound := o.expectedPull(), o.pullBound()
	return []experiment.Verdict{{
		Claim:  who + "every report that was sent in time is counted, and once, also where it was sent again",
		Holds:  o.counted == o.sent && o.duplicates >= o.resent,
		Detail: fmt.Sprintf("%s sent, %s counted; %s were sent again, and %s acknowledged as counted before", n(o.sent), n(o.counted), n(o.resent), n(o.duplicates)),
	}, {
		Claim:  who + "every report that comes after the end is refused",
		Holds:  o.refused == o.late,
		Detail: fmt.Sprintf("%s sent, %s refused", n(o.late), n(o.refused)),
	}, {
		Claim:  who + "the error is within 10 % of the one that the server predicts",
		Holds:  math.Abs(o.noise/o.predicted-1) <= 0.1,
		Detail: fmt.Sprintf("%.4g, predicted %.4g, by the formula %.4g", o.noise, o.predicted, o.exact()),
	}, {
		Claim:  who + "lies move a coordinate as far as expected, up to five standard errors, and within the bound for any lies",
		Holds:  math.Abs(o.pull-expected) <= 5*o.pullStdErr && expected <= bound,
		Detail: fmt.Sprintf("%s liars move it by %.4g ± %.2g; expected %.4g, bound %.4g", n(o.liars()), o.pull, o.pullStdErr, expected, bound),
	}, {
		Claim:  who + "the round ends within an hour",
		Holds:  o.seconds+o.closing <= withinHour,
		Detail: fmt.Sprintf("%.0f s, on %d processors that clients and server share", math.Ceil(o.seconds+o.closing), runtime.NumCPU()),
	}}
}
