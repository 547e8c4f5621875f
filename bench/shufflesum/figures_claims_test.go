package shufflesum

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// along is a panel with errors and messages as the paper draws them for n = 10³ to 10⁹.
func along() points {
	return points{
		title:  "ε = 1",
		errors: map[string][]float64{"GKMPS": {5, 5, 5, 5}, "BBGN": {5, 5, 5, 5}, sumDPName: {1, 2, 1, 1}, centralName: {1, 1, 1, 1}},
		messages: map[string][]float64{
			"GKMPS": {900, 90, 9, 1.9}, "BBGN": {9, 9, 8, 8}, sumDPName: {100, 90, 20, 5},
		},
		x: []float64{1e3, 1e5, 1e8, 1e9}, largest: []float64{10, 10, 10, 10},
	}
}

// Each claim about Figure 3 holds as the paper draws it, and not where its own curve is another.
func TestClaimsAboutMessages(t *testing.T) {
	held := func(p points) (out string) {
		for _, v := range fig3Claims([]points{along(), p}) {
			out += map[bool]string{true: "y", false: "n"}[v.Holds]
		}
		return out
	}
	for want, change := range map[string]func(points){
		"yyyyyyyy": func(points) {},
		"nyyyyyyy": func(p points) { p.errors["BBGN"][3] = 16 },
		"ynyyyyyy": func(p points) { p.errors[sumDPName][0] = 0.5 },
		"yyynyyyy": func(p points) { p.messages["GKMPS"][0] = 80 },
		"yyyynyyy": func(p points) { p.messages["BBGN"][0] = 30 },
		"yyyyynyy": func(p points) { p.messages[sumDPName][0] = 300 },
		"yyyyyyny": func(p points) { p.messages["GKMPS"][3] = 6 },
		"yyyyyyyn": func(p points) { p.messages[sumDPName][3] = 11 },
	} {
		p := along()
		change(p)
		if got := held(p); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	far := along()
	far.errors[centralName] = []float64{0.09, 0.09, 0.09, 0.09}
	if got := held(far); got != "yynyyyyy" {
		t.Errorf("SumDP is far from central DP: %s", got)
	}
}

// Figures 4 and 5 have two ends: an error that falls is as little proportional as one that grows too fast.
func TestClaimsAboutBounds(t *testing.T) {
	for _, c := range []struct {
		rivals, own float64
		want        string
	}{{1e5, 1, "yy"}, {3e5, 1, "ny"}, {1e4, 1, "ny"}, {1e5, 4, "yn"}, {1e5, 0.3, "yn"}} {
		p := points{errors: map[string][]float64{"GKMPS": {1, c.rivals}, "BBGN": {1, c.rivals}, sumDPName: {1, c.own}}, largest: []float64{1, 1}}
		if got := letters(fig4Claims([]points{p})); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	for _, c := range []struct {
		first, last float64
		want        string
	}{{2, 300, "yy"}, {2, 1200, "nn"}, {2, 80, "yn"}, {20, 300, "ny"}} {
		p := points{x: []float64{1, 2}, errors: map[string][]float64{"GKMPS": {200, 200}, "BBGN": {500, 500}, sumDPName: {c.first, c.last}}, largest: []float64{1, 100}}
		if got := letters(fig5Claims([]points{p})); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func letters(all []experiment.Verdict) string {
	var out strings.Builder
	for _, v := range all {
		out.WriteString(map[bool]string{true: "y", false: "n"}[v.Holds])
	}
	return out.String()
}
