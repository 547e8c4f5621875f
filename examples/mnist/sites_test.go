package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
)

// Sites learn from features that know no digits, and what is promised is about one record, on the screen and in all files. With
// a seed nothing is.
func TestSitesTrainAndPromiseForARecord(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	for _, seed := range []string{"0", "7"} {
		dir := t.TempDir()
		o, model, run, data := small(t, hdsum.SiteName, "--features", dataset.EdgesCentred, "--budget", "20", "--seed", seed, "--explain", "--out", dir)
		if run.Trust != plan.OwnSite || run.Unit != plan.Record || run.Clients != 3 || run.Cohort != 3 || run.Records != 900 || run.Template.Params[fl.ParamRecords] != fl.Int(900) {
			t.Fatalf("%+v", run)
		}
		if p, err := run.Spending.Promise(t.Context(), 3); err != nil || p.Central != nil || *p.LocalTotal > 20 || *p.LocalTotal < 19.9 || p.LocalDelta != 1e-6 || p.Participations != 3 {
			t.Errorf("promises %+v, %v", p, err)
		}
		var out strings.Builder
		if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(out.String(), dir, "out")
		fitsATerminal(t, text)
		flat := strings.Join(strings.Fields(text), " ")
		says := []string{
			"3 rounds of 3 sites, which send sums of 900 records together", "nobody outside of a site is trusted", "Every ε is of one record, and not of all records of a person", "reports bytes local ε s",
		}
		if seed == "0" {
			says = append(says, "for one record in all 3 rounds together: against everybody outside of its site, the server included", "The number of a site's records is public.")
		} else {
			says = append(says, "privacy none: the seed repeats the noise", "about one record.")
		}
		for _, want := range says {
			if !strings.Contains(flat, want) {
				t.Errorf("seed %s: the output lacks %q:\n%s", seed, want, text)
			}
		}
		if strings.Contains(flat, "central privacy") || strings.Contains(flat, "reports of a client") || strings.Contains(flat, "No shuffler") {
			t.Errorf("seed %s: the output is about clients:\n%s", seed, text)
		}
		var s struct {
			Unit                                     string
			Trust, Mechanism                         string
			Clients, Records, Cohort, Participations int
			Accuracy                                 float64 `json:"test_accuracy"`
			Before                                   float64
			Bytes                                    float64  `json:"bytes_per_report"`
			Local                                    *float64 `json:"epsilon_local"`
			Total                                    *float64 `json:"epsilon_local_total"`
			Central                                  *float64 `json:"epsilon_central"`
		}
		raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
		if err == nil {
			err = json.Unmarshal(raw, &s)
		}
		if promised := seed == "0"; err != nil || s.Unit != "record" || s.Trust != "own-site" || s.Mechanism != hdsum.SiteName || s.Clients != 3 || s.Records != 900 || s.Cohort != 3 || s.Participations != 3 ||
			s.Bytes != float64(run.Opened.(fl.ReportSizer).ReportBytes()) || promised != (s.Local != nil) || promised && !(*s.Total <= 20 && *s.Total > *s.Local) || s.Central != nil {
			t.Errorf("seed %s: %v, %s", seed, err, raw)
		}
		if s.Accuracy < s.Before+0.3 {
			t.Errorf("seed %s: the accuracy is %g, and %g before the first round", seed, s.Accuracy, s.Before)
		}
		rows, err := os.ReadFile(filepath.Join(dir, "history.csv"))
		if lines := strings.Split(strings.TrimSpace(string(rows)), "\n"); err != nil || len(lines) != 4 || !strings.Contains(lines[3], fmt.Sprintf(",3,%d,", 3*int(s.Bytes))) {
			t.Errorf("seed %s: history.csv is %s, %v", seed, rows, err)
		}
	}
}

// A round has one report of each site, of all its records and nobody else's. A site's report depends on its turn and not on who plays it. The
// mean is the records' mean of clipped gradients.
func TestASitesReportIsItsRecordsSum(t *testing.T) {
	f := running(t, hdsum.SiteName, "--epsilon", "20")
	p, to := f.record(t)
	round := f.opened(t, func(*fl.Round) {})
	if err := f.play(t.Context(), p, round, 4, 6); err != nil {
		t.Fatal(err)
	}
	reports := to.reports(t, p, round, 2)
	part, err := p.client.Join(t.Context(), round)
	if err != nil {
		t.Fatal(err)
	}
	gradients, err := f.clients.On(f.model, false)
	if err != nil {
		t.Fatal(err)
	}
	defer gradients.Close()
	if gradients.Len() != 900 {
		t.Fatalf("%d records", gradients.Len())
	}
	first := f.model.Init(f.seed.Init())
	mean, clipped := make([]float64, f.model.Dim()), 0
	var records [][]float64
	if err := gradients.Each(t.Context(), first, 0, 900, func(_ int, grad []float64) error {
		records = append(records, slices.Clone(grad))
		clip := f.run.Template.Scale / floats.Norm(grad, 2)
		if clip < 1 {
			clipped++
		}
		floats.AddScaled(mean, min(1, clip)/900, grad)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i, turn := range []int{4, 5} {
		site := turn % 3
		want, err := part.EncodeRecords(nil, slices.Values(records[300*site:300*(site+1)]), f.seed.Client(turn))
		if err != nil || !slices.Equal(reports[i], want) {
			t.Errorf("turn %d: the report is not of the records of site %d, %v", turn, site, err)
		}
	}
	sent := f.bytes.Load()
	estimate, err := f.Mean(t.Context(), 0, first)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(3 * f.run.Opened.(fl.ReportSizer).ReportBytes()); estimate.Reports != 3 || estimate.Records != 900 || f.bytes.Load()-sent != want {
		t.Errorf("%d reports of %d records in %d bytes, want 3 of 900 in %d", estimate.Reports, estimate.Records, f.bytes.Load()-sent, want)
	}
	// The error's norm has a relative deviation of 1/√(2·650) = 3 %. The run is seeded.
	if off := floats.Distance(estimate.Mean().Value, mean, 2); !(math.Abs(off/estimate.NoiseNorm-1) < 0.15) || clipped == 0 || floats.Norm(mean, 2) < 3*off {
		t.Errorf("the mean is off by %g, want %g; %d records are clipped, and their mean is %g", off, estimate.NoiseNorm, clipped, floats.Norm(mean, 2))
	}
}

// The dashboard's page shows a round of sites, and what it says is about one record.
func TestTheDashboardShowsSites(t *testing.T) {
	var log kept
	f := runningWith(t, &log, hdsum.SiteName, "--dashboard", "--seed", "0")
	if _, err := f.Mean(t.Context(), 0, make([]float64, f.model.Dim())); err != nil {
		t.Fatal(err)
	}
	r := shownBy(t, log.String()).Rounds
	for range 600 { // the promise is computed once the page was asked for it
		if len(r) != 1 || r[0].Promise.Local != nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
		r = shownBy(t, log.String()).Rounds
	}
	if len(r) != 1 || r[0].State != "closed" || r[0].Reports != 3 || r[0].Promise.Local == nil || !strings.Contains(strings.Join(r[0].Promise.Notes, " "), "each ε is for one record") {
		t.Errorf("%+v", r)
	}
}

func TestFlagsOfSites(t *testing.T) {
	o, err := parse([]string{"--trust", "own-site"}, io.Discard)
	if err != nil || o.request.Clients != sites || o.request.Records == 0 {
		t.Fatalf("%+v, %v, want %d sites", o.request, err, sites)
	}
	if o, err := parse([]string{"--trust", "two-servers", "--sites", "40"}, io.Discard); err != nil || o.request.Clients != 40 || o.request.Records == 0 || o.request.Cohort != 0 {
		t.Fatalf("%+v, %v, want 40 sites", o.request, err)
	}
	if o, err := parse([]string{"--trust", "two-servers"}, io.Discard); err != nil || o.request.Records != 0 {
		t.Fatalf("%+v, %v, want clients with pictures of their own", o.request, err)
	}
	for _, args := range [][]string{{"--sites", "3"}, {"--trust", "shuffler", "--sites", "3"}, {"--trust", "two-servers", "--sites", "0"}, {"--trust", "two-servers", "--sites", "3", "--clients", "3"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	for param, args := range map[string][]string{
		"--roles": {"--roles", "3"}, "--mechanism": {"--mechanism", "coco"}, "--mechanism ": {"--mechanism", "none"}, "--cohort": {"--cohort", "6"}, "--sparsity": {"--sparsity", "5"},
		"--max-epsilon": {"--max-epsilon", "1"}, "--sites ": {"--sites", "1"}, "--sites": {"--sites", "901"}, "--clients": {"--clients", "3"},
	} {
		o, err := parse(append([]string{"--trust", "own-site"}, args...), io.Discard)
		if err == nil { // what depends on the pictures
			_, _, err = o.plan(t.Context(), 900)
		}
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != strings.TrimSpace(param) || strings.Count(err.Error(), "rule:") != 1 {
			t.Errorf("%v: %v, want a ParamError for %s with one rule", args, err, param)
		}
	}
}
