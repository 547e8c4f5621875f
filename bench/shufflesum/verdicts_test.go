package shufflesum

import (
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
)

func same(a, b float64) bool { return math.Abs(a/b-1) < 1e-5 }

func TestShortNumbers(t *testing.T) {
	for x, want := range map[float64]string{0.012345: "0.0123", 12.345: "12.3", 123.45: "123", 2719: "2720", 107_400: "107000", 2e6: "2e+06"} {
		if got := short(x); got != want {
			t.Errorf("%g is written %s, want %s", x, got, want)
		}
	}
}

// A ratio has both ends of both intervals, and no upper end where the lower error may be 0.
func TestTimes(t *testing.T) {
	a, b := experiment.Interval{Value: 6, Low: 4, High: 8}, experiment.Interval{Value: 3, Low: 2, High: 4}
	if got := times(a, b); got != (experiment.Interval{Value: 2, Low: 1, High: 4}) {
		t.Errorf("%+v", got)
	}
	a.Low, b.Low = -1, -1
	if got := times(a, b); got.Low != 0 || !math.IsInf(got.High, 1) {
		t.Errorf("%+v", got)
	}
}

// Ten groups of mean 5 and deviation 1: their mean has the 95 % interval 5 ± 2.2622/√10, and one
// more is within 3.2498·√1.1 of it with probability 0.99. Four such columns, each at 4/5 of the
// paper's: 0.8·exp(±1.96·0.2·√1.1/2).
func TestRunsOfThePaper(t *testing.T) {
	half := 2.262157 / math.Sqrt(10)
	mean := experiment.Interval{Value: 5, Low: 5 - half, High: 5 + half}
	if one := oneRun(mean, 10); !same(one.Low, 5-3.249836*math.Sqrt(1.1)) || !same(one.High, 5+3.249836*math.Sqrt(1.1)) {
		t.Errorf("%+v", one)
	}
	four := pooled([]experiment.Interval{mean, mean, mean, mean}, []float64{6.25, 6.25, 6.25, 6.25}, 10)
	if wide := math.Exp(1.96 * 0.2 * math.Sqrt(1.1) / 2); !same(four.Value, 0.8) || !same(four.High, 0.8*wide) || !same(four.Low, 0.8/wide) {
		t.Errorf("%+v", four)
	}
}

// asPrinted are columns with the paper's errors and messages, each with an interval of a tenth.
func asPrinted() []measuredColumn {
	var found []measuredColumn
	for _, c := range table3Columns() {
		m := measuredColumn{column: c, groups: 10, errors: map[string]experiment.Interval{}, messages: map[string]float64{}, spread: []float64{c.errors[0] / 2, c.errors[0] * 2}}
		for k, name := range sumNames[:4] {
			m.errors[name] = experiment.Interval{Value: c.errors[k], Low: 0.95 * c.errors[k], High: 1.05 * c.errors[k]}
			if k < 3 {
				m.messages[name] = c.messages[k]
			}
		}
		m.errors[lowerName] = m.errors[centralName]
		found = append(found, m)
	}
	return found
}

// With the paper's own numbers every claim about Table 3 holds, or cannot be settled as it is about
// data that are not public; and each that can fail does.
func TestTable3Claims(t *testing.T) {
	outcomes := func(found []measuredColumn) map[string]experiment.Verdict {
		all := map[string]experiment.Verdict{}
		for _, v := range table3Claims(found) {
			all[v.Claim] = v
		}
		return all
	}
	for claim, v := range outcomes(asPrinted()) {
		if open := strings.Contains(claim, "real data") || strings.Contains(claim, "-Sal") || strings.Contains(claim, "JP-Trad"); open != (v.Missing != "") || !v.Holds {
			t.Errorf("%+v", v)
		}
	}
	found := asPrinted()
	found[4].spread, found[9].errors[sumDPName] = []float64{100, 200}, experiment.Interval{Value: 0.3, Low: 0.3, High: 0.3}
	all := outcomes(found)
	if v := all["Table 3, Gauss μ=50 σ=50: the paper's error of SumDP is one that data of this law give"]; v.Readings != (experiment.Share{Held: 1, Of: 2}) || v.Ours != "100 to 200 %; 0.00254 to 0.0102 %" {
		t.Errorf("one of two readings: %+v", v)
	}
	if v := all["Table 3, real data: SumDP's error is below 0.2 %"]; v.Missing != noAccount || v.Holds {
		t.Errorf("a stand-in is above: %+v", v)
	}
	if v := all["Table 3, simulated data: SumDP's error is below 0.2 %"]; v.Missing != "" || !v.Holds {
		t.Errorf("only a stand-in is above: %+v", v)
	}
	found = asPrinted()
	for i := range found {
		e := found[i].errors["GKMPS"]
		found[i].errors["GKMPS"] = experiment.Interval{Value: 3 * e.Value, Low: 2.9 * e.Value, High: 3.1 * e.Value}
	}
	for claim, v := range outcomes(found) {
		if strings.Contains(claim, "GKMPS and BBGN have") && v.Missing == "" && v.Holds {
			t.Errorf("one of two errors is three times the paper's: %+v", v)
		}
	}
	found = asPrinted()
	for i := range found {
		for name, e := range found[i].errors {
			if name != centralName {
				found[i].errors[name] = experiment.Interval{Value: 3 * e.Value, Low: 2.9 * e.Value, High: 3.1 * e.Value}
			}
		}
		found[i].errors["BBGN"], found[i].spread = experiment.Interval{Value: 0.1, Low: 0.09, High: 0.11}, []float64{100, 200}
		found[i].messages["GKMPS"] *= 3
	}
	for claim, v := range outcomes(found) {
		same := strings.Contains(claim, "messages per client") || strings.Contains(claim, "more than one message") || strings.Contains(claim, "3000") || strings.Contains(claim, "fewer messages") || strings.Contains(claim, "central DP has") || strings.Contains(claim, "below 2 %")
		if !same && v.Missing == "" && v.Holds {
			t.Errorf("%+v", v)
		}
	}
}

// The readings of HLY are readings of its error: for images of half the norm the error is twice as large.
func TestReadingsOfHLY(t *testing.T) {
	at := func(x float64) outcome { return outcome{err: experiment.Interval{Value: x, Low: x, High: x}} }
	found := vectorOutcomes{
		highDimName(fl.ZeroOut, hdsum.Paper): at(paperHighDim), highDimName(fl.ZeroOut, hdsum.Tight): at(2),
		hlyName(baseTwo): at(1024), hlyName(natural): at(750), centralName: at(paperCentral),
	}
	sent := func(label string, messages float64) {
		o := found[label]
		o.messages.Value = messages
		found[label] = o
	}
	sent(highDimName(fl.ZeroOut, hdsum.Paper), paperHighDimMessages)
	sent(hlyName(baseTwo), paperHLYMessages)
	all := found.table4Claims(fl.ZeroOut, 2, "")
	if v := all[1]; v.Readings != (experiment.Share{Held: 1, Of: 6}) || !strings.Contains(v.Detail, "0/1 pixels 1024 %, pixels in [0, 1] 2048 %, pixels in [0, U₂/28] 56 %") {
		t.Errorf("%+v", v)
	}
	// HighDimSum's own error is not close to central DP's.
	for i, v := range all {
		if far := i == 1 || i == 3 || i == 4; far == v.Holds || v.Missing != "" {
			t.Errorf("%+v", v)
		}
	}
	for i, v := range found.table4Claims(fl.ZeroOut, 2, "generated digits")[:9] {
		if v.Missing == "" {
			t.Errorf("claim %d about other images is settled: %+v", i, v)
		}
	}
	found[hlyName(natural)] = at(2 * paperHighDim)
	sent(highDimName(fl.ZeroOut, hdsum.Paper), 3*paperHLYMessages)
	all = found.table4Claims(fl.ZeroOut, 2, "")
	if v := all[5]; v.Holds || v.Readings.Held != 1 {
		t.Errorf("%+v", v)
	}
	for _, v := range all[6:8] {
		if v.Holds {
			t.Errorf("%+v", v)
		}
	}
}
