package pages

import (
	"fmt"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// scaled lists what rounds cost that were simulated.
func scaled(in []*experiment.Record) (string, error) {
	g := newGrid("clients", "reports", "reports/s", "bytes per report", "server, core seconds per million", "clients, core seconds per million", "server's largest memory", "journal", "price per million")
	err := eachScale(in, true, func(row map[string]any) error {
		v, err := numbers(row, "clients", "reports", "reports_per_second", "bytes_per_report", "server_core_seconds_per_million", "client_core_seconds_per_million", "peak_server_bytes", "journal_bytes", "price_per_million")
		if err == nil {
			g.add(experiment.Grouped(v[0]), experiment.Grouped(v[1]), counted(v[2]), fmt.Sprintf("%.2f", v[3]), fmt.Sprintf("%.3g", v[4]), fmt.Sprintf("%.3g", v[5]), fmt.Sprintf("%.0f MB", v[6]/1e6), fmt.Sprintf("%.0f MB", v[7]/1e6), fmt.Sprintf("%.2g", v[8]))
		}
		return err
	})
	return g.String(), err
}

// population lists what clients did to rounds that were simulated.
func population(in []*experiment.Record) (string, error) {
	g := newGrid("clients", "dropped out", "sent again: counted before", "late: refused", "liars", "a coordinate moved by", "bound for any lies", "error", "error predicted")
	err := eachScale(in, true, func(row map[string]any) error {
		v, err := numbers(row, "clients", "dropped", "sent_again", "late_refused", "liars", "pull", "pull_stderr", "pull_bound", "error", "error_predicted")
		if err == nil {
			g.add(experiment.Grouped(v[0]), experiment.Grouped(v[1]), experiment.Grouped(v[2]), experiment.Grouped(v[3]), experiment.Grouped(v[4]), fmt.Sprintf("%.4f ± %.4f", v[5], v[6]), fmt.Sprintf("%.4f", v[7]), fmt.Sprintf("%.4g", v[8]), fmt.Sprintf("%.4g", v[9]))
		}
		return err
	})
	return g.String(), err
}

// extrapolated lists rounds that were computed.
func extrapolated(in []*experiment.Record) (string, error) {
	g := newGrid("clients", "rounds", "server, core hours", "bytes in", "price", "error")
	err := eachScale(in, false, func(row map[string]any) error {
		v, err := numbers(row, "clients", "rounds", "server_core_seconds", "bytes", "price", "error_exact")
		if err == nil {
			g.add(experiment.Grouped(v[0]), experiment.Grouped(v[1]), fmt.Sprintf("%.3g", v[2]/3600), volume(v[3]), fmt.Sprintf("%.3g", v[4]), fmt.Sprintf("%.2g", v[5]))
		}
		return err
	})
	return g.String(), err
}

// volume is a number of bytes, with three digits.
func volume(bytes float64) string {
	if bytes >= 1e12 {
		return fmt.Sprintf("%.3g TB", bytes/1e12)
	}
	return fmt.Sprintf("%.3g GB", bytes/1e9)
}

// eachScale calls use with the rows that were simulated, or with those that were not.
func eachScale(in []*experiment.Record, simulated bool, use func(row map[string]any) error) error {
	for _, r := range in {
		for _, row := range r.Rows {
			if row["simulated"] == simulated {
				if err := use(row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
