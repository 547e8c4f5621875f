package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// result is everything that one run found.
type result struct {
	experiment.Origin
	modules []string // versions of the libraries compared
	task    task
	rows    []row
}

func newResult(ctx context.Context, cfg config, rows []row) result {
	r := result{Origin: experiment.Here(ctx, cfg.command()), task: cfg.task, rows: rows}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/cloudflare/circl" || d.Path == "github.com/klauspost/compress" {
				r.modules = append(r.modules, d.Path+" "+d.Version)
			}
		}
	}
	return r
}

// work says what every contender did.
func (r result) work() string {
	return fmt.Sprintf("One ternary vector of %d coordinates, %d of them non-zero, on one core; ε = %g. µs are medians of %d.",
		r.task.Dim, r.task.Sparsity, r.task.Epsilon, repetitions)
}

// found returns the result as all experiments write theirs.
func (r result) found() *experiment.Result {
	out := &experiment.Result{
		Columns: []string{
			"contender", "sends", "sum", "guarantee", "bytes_per_client", "client_us_per_report", "server_us_per_report",
			"server_ratio_to_first", "client_setup_us_per_round", "sum_us_per_round", "bytes_between_aggregators",
		},
		Notes: append([]string{r.work()}, r.modules...),
	}
	for _, x := range r.rows {
		out.Rows = append(out.Rows, experiment.Row{
			x.Name, x.Sends, x.Sum, x.Guarantee, x.Bytes, x.Client, x.Server, x.Ratios.Server, x.Join, x.Finish, x.Between,
		})
	}
	return out
}

// writeTable writes the aligned table with its footnotes.
func (r result) writeTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s × is the ratio to row 1.\n\n", r.Command, strings.Join(append([]string{r.Go, r.Machine}, r.modules...), ", "), r.work())

	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "#\tbytes/client\t×\tclient µs\t×\tserver µs\t×\tsetup µs/round\tsum µs/round\t")
	for i, x := range r.rows {
		fmt.Fprintf(t, "%d\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", i+1, x.Bytes, digits(x.Ratios.Bytes),
			digits(x.Client), digits(x.Ratios.Client), digits(x.Server), digits(x.Ratios.Server), digits(x.Join), digits(x.Finish))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	b.WriteString("\n")
	t = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "#\tcontender\tclient sends\tsum\tguarantee\tbytes between aggregators")
	for i, x := range r.rows {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%d\n", i+1, x.Name, x.Sends, x.Sum, x.Guarantee, x.Between)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	b.WriteString(`
bytes/client    all messages of one client; for Prio3 the public share and both input shares,
                without the 16-byte nonce and without encryption to the aggregators
server µs       from the bytes to the accumulated state; for Prio3 the sum over both aggregators
setup µs/round  once per round and client, before its first report; not part of client µs
sum µs/round    once per round, after the last report; not part of server µs
bytes between   preparation share of the leader and answer of the helper, per report
aggregators
guarantee       differential privacy of one report. Prio3 has none: its sum is exact. It hides
                the single report as long as one of the two aggregators is honest.
`)
	fmt.Fprintf(&b, "Prio3Histogram sends a 1-sparse vector, not a %d-sparse one: less than the same work.\n", r.task.Sparsity)
	_, err := io.WriteString(w, b.String())
	return err
}

// digits prints three significant digits without an exponent.
func digits(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}
