package pages

import (
	"fmt"
	"math"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/speed/probe"
	"github.com/hushgrad/hushgrad/server/admit"
)

// way is how reports come to a server.
type way struct {
	name    string
	setting string  // of bench serve, where a report's processor time is, in its beginning
	more    float64 // bytes of a report beside the bytes of bench scale
}

// ways are the ways of the sizing table.
var ways = []way{
	{"in groups of 4096", "4096 reports per message, s = 64", 0},
	{"sealed, with tokens", "sealed with token, ", admit.TokenBytes + sealBytes},
}

// loads are the rows of the sizing table: reports a day and coordinates.
var loads = []struct{ reports, dim float64 }{
	{1e6, 7850}, {1e8, 7850}, {1e9, 7850}, {1e6, 1 << 20}, {1e9, 1 << 20},
}

const (
	// sealBytes are what seal.X25519 adds: an encapsulated key and a tag.
	sealBytes = 32 + 16
	// peak is how far the rate of reports rises above its mean, an assumption.
	peak = 3
	// shardCores are the cores of one server: the cores of the machine that was measured.
	shardCores = 2
	// measuredDim is the dimension of bench serve and bench scale; a larger one costs what bench
	// speed finds beyond slowDim, its size next to it.
	measuredDim, slowDim = 7850, 1 << 14
)

// sizing lists what reports of a day need, from the results of bench scale, bench serve and bench
// speed, in this order.
func sizing(in []*experiment.Record) (string, error) {
	if len(in) != 3 {
		return "", fmt.Errorf("the sizing table needs three results, got %d", len(in))
	}
	simulated := -1
	for i, row := range in[0].Rows {
		if row["simulated"] == true {
			simulated = i // the largest is the last one
		}
	}
	if simulated < 0 {
		return "", fmt.Errorf("%s has no simulated round", in[0].Name)
	}
	base, err := numbers(in[0].Rows[simulated], "bytes_per_report", "price_core_hour", "price_gb_in")
	if err != nil {
		return "", err
	}
	g := newGrid("reports a day", "d", "they come", "µs of a core each", "core hours a day", "cores at three times the mean rate", "servers of 2 cores", "GB in a day", "price a day", "price per million")
	for _, l := range loads {
		slower, err := decodeSlower(in[2], l.dim)
		if err != nil {
			return "", err
		}
		for _, w := range ways {
			each, err := processorTime(in[1], w.setting)
			if err != nil {
				return "", err
			}
			each += slower
			seconds, gigabytes := l.reports*each/1e6, l.reports*(base[0]+w.more)/1e9
			cores := peak * seconds / 86400
			price := seconds/3600*base[1] + gigabytes*base[2]
			g.add(experiment.Grouped(l.reports), experiment.Grouped(l.dim), w.name, fmt.Sprintf("%.3g", each), fmt.Sprintf("%.3g", seconds/3600), fmt.Sprintf("%.2g", cores),
				fmt.Sprint(max(1, math.Ceil(cores/shardCores))), fmt.Sprintf("%.3g", gigabytes), fmt.Sprintf("%.2g", price), fmt.Sprintf("%.2g", price/l.reports*1e6))
		}
	}
	return g.String(), nil
}

// processorTime is the server's time for a report in microseconds, with a journal on disk.
func processorTime(r *experiment.Record, setting string) (float64, error) {
	for _, row := range r.Rows {
		if row["what"] == "journal on disk" && strings.HasPrefix(fmt.Sprint(row["setting"]), setting) {
			return number(row, "server_us_per_report")
		}
	}
	return 0, fmt.Errorf("%s has no journal on disk with %s", r.Name, setting)
}

// decodeSlower is what a report of s = 64 costs more than one of measuredDim coordinates, in
// microseconds.
func decodeSlower(r *experiment.Record, dim float64) (float64, error) {
	if dim <= measuredDim {
		return 0, nil
	}
	found := map[float64]float64{}
	for _, row := range r.Rows {
		if row["operation"] == probe.Decode && row["hash"] == "gf2" && row["sparsity"] == 64.0 {
			v, err := numbers(row, "dim", "median")
			if err != nil {
				return 0, err
			}
			found[v[0]] = v[1]
		}
	}
	if found[dim] == 0 || found[slowDim] == 0 {
		return 0, fmt.Errorf("%s does not add reports of %g and %d coordinates", r.Name, dim, slowDim)
	}
	return (found[dim] - found[slowDim]) / 1e3, nil
}
