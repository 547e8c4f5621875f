package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"
)

// result is everything that one run found.
type result struct {
	Command  string            `json:"command"` // reproduces the run, inside this folder
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	CPU      string            `json:"cpu"`
	Modules  map[string]string `json:"modules"` // versions of the libraries compared
	Task     task              `json:"task"`
	Clients  int               `json:"clients"` // distinct vectors
	Rows     []row             `json:"rows"`
}

func newResult(cfg config, rows []row) result {
	r := result{
		Command:  cfg.command(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		CPU:      cpu(),
		Modules:  map[string]string{},
		Task:     cfg.task,
		Clients:  clients,
		Rows:     rows,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/cloudflare/circl" || d.Path == "github.com/klauspost/compress" {
				r.Modules[d.Path] = d.Version
			}
		}
	}
	return r
}

// cpu is the model name as Linux reports it, or "unknown CPU".
func cpu() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}

// writeTable writes the aligned table with its footnotes.
func (r result) writeTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s, %s, %s, one core", r.Command, r.Go, r.Platform, r.CPU)
	for _, path := range []string{"github.com/cloudflare/circl", "github.com/klauspost/compress"} {
		if version, ok := r.Modules[path]; ok {
			fmt.Fprintf(&b, ", %s %s", path, version)
		}
	}
	fmt.Fprintf(&b, "\nOne ternary vector of %d coordinates, %d of them non-zero. µs are medians of %d; × is the ratio to row 1.\n\n",
		r.Task.Dim, r.Task.Sparsity, repetitions)

	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "#\tbytes/client\t×\tclient µs\t×\tserver µs\t×\tsetup µs/round\tsum µs/round\t")
	for i, x := range r.Rows {
		fmt.Fprintf(t, "%d\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", i+1, x.Bytes, digits(x.Ratios.Bytes),
			digits(x.Client), digits(x.Ratios.Client), digits(x.Server), digits(x.Ratios.Server), digits(x.Join), digits(x.Finish))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	b.WriteString("\n")
	t = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "#\tcontender\tclient sends\tsum\tguarantee\tbytes between aggregators")
	for i, x := range r.Rows {
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
	fmt.Fprintf(&b, "Prio3Histogram sends a 1-sparse vector, not a %d-sparse one: less than the same work.\n", r.Task.Sparsity)
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

// writeJSON writes the same as one JSON object.
func (r result) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
