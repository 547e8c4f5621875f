package serving

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// spread is the median of repeats, with the smallest and the largest one.
type spread struct{ median, low, high float64 }

// spread returns the spread of value i of every repeat.
func (m *measurement) spread(i int) spread {
	var values []float64
	for _, v := range m.values {
		values = append(values, v[i])
	}
	slices.Sort(values)
	n := len(values)
	return spread{(values[(n-1)/2] + values[n/2]) / 2, values[0], values[n-1]}
}

// holds reports whether the aim is reached.
func (m *measurement) holds() bool {
	if m.atMost {
		return m.spread(0).median <= m.aim
	}
	return m.spread(0).median >= m.aim
}

func report(all []*measurement, d damage, notes []string) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"what", "setting", "unit", "median", "low", "high", "aim", "share_of_grpc_alone", "server_us_per_report", "client_us_per_report"},
		Notes:   notes,
	}
	for _, m := range all {
		r.Rows = append(r.Rows, m.row())
		if m.aim > 0 {
			r.Verdicts = append(r.Verdicts, m.verdict())
		}
	}
	r.Rows = append(r.Rows, experiment.Row{"kill -9, journal on disk", d.setting(), "reports too many or too few", float64(d.counted) - float64(d.reports), nil, nil, 0.0, nil, nil, nil})
	r.Verdicts = append(r.Verdicts, experiment.Verdict{
		Claim:  fmt.Sprintf("journal on disk, %s: every report is counted once, and the estimate has the bits of one that no server was killed for", d.setting()),
		Holds:  d.counted == d.reports && d.identical,
		Detail: fmt.Sprintf("%d counted; bits of the estimate the same: %v", d.counted, d.identical),
	})
	r.Plot = &figure.Figure{ErrorBars: "smallest and largest of the repeats", Panels: []figure.Panel{rates(all)}}
	return r
}

func (d damage) setting() string {
	return fmt.Sprintf("%d kills, %d clients with one report each, %d reports sent again after the acknowledgement", d.kills, d.reports, d.again)
}

func (m *measurement) row() experiment.Row {
	got := m.spread(0)
	var aim, share, server, clients any
	if m.aim > 0 {
		aim = m.aim
	}
	if m.ceiling != nil {
		share = got.median / m.ceiling.spread(0).median
	}
	if m.knows(1) {
		server = 1e6 * m.spread(1).median
	}
	if m.knows(2) {
		clients = 1e6 * m.spread(2).median
	}
	return experiment.Row{m.what, m.setting, m.unit, got.median, got.low, got.high, aim, share, server, clients}
}

// knows reports whether there is a value i of every repeat.
func (m *measurement) knows(i int) bool { return len(m.values[0]) > i }

func (m *measurement) verdict() experiment.Verdict {
	got, bound := m.spread(0), "at least"
	if m.atMost {
		bound = "at most"
	}
	v := experiment.Verdict{
		Claim:  fmt.Sprintf("%s, %s: %s %s %s", m.what, m.setting, bound, plain(m.aim), m.unit),
		Holds:  m.holds(),
		Detail: fmt.Sprintf("%s, from %s to %s", plain(got.median), plain(got.low), plain(got.high)),
	}
	if m.knows(2) {
		both, n := m.spread(1).median+m.spread(2).median, runtime.NumCPU()
		v.Detail += fmt.Sprintf("; the processor time of server and clients is enough for %s on %d processors without other work", plain(float64(n)/both), n)
	}
	return v
}

// plain writes three significant digits of a number, without an exponent.
func plain(v float64) string {
	if v >= 1000 {
		unit := math.Pow10(int(math.Log10(v)) - 2)
		v = math.Round(v/unit) * unit
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// rates draws the rates of clients that keep a call, over the size of a message.
func rates(all []*measurement) figure.Panel {
	p := figure.Panel{XLabel: "reports per message", YLabel: "reports per second", LogX: true, LogY: true}
	for _, m := range all {
		if m.series == "" {
			continue
		}
		i := slices.IndexFunc(p.Series, func(s figure.Series) bool { return s.Name == m.series })
		if i < 0 {
			i, p.Series = len(p.Series), append(p.Series, figure.Series{Name: m.series, Style: figure.LinePoints})
		}
		got := m.spread(0)
		p.Series[i].Add(float64(m.reports), got.median, got.low, got.high)
	}
	return p
}
