package pages

import (
	"fmt"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// peers lists what bench/peers has measured, a line for each contender.
func peers(in []*experiment.Record) (string, error) {
	g := newGrid("contender", "bytes per client", "client µs", "server µs per report", "ratio", "once per round: client, server µs")
	for _, row := range in[0].Rows {
		v, err := numbers(row, "bytes_per_client", "client_us_per_report", "server_us_per_report", "server_ratio_to_first", "client_setup_us_per_round", "sum_us_per_round")
		if err != nil {
			return "", err
		}
		g.add(fmt.Sprintf("%v: %v", row["contender"], row["sends"]), fmt.Sprintf("%.0f", v[0]), digits(v[1]), digits(v[2]), digits(v[3]), digits(v[4])+", "+digits(v[5]))
	}
	return g.String(), nil
}

// digits writes a number with three significant digits or more, and without an exponent.
func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
