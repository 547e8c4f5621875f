package experiment_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// small is a result with every kind of cell, and with what is hard to write.
func small() *experiment.Result {
	return &experiment.Result{
		Columns: []string{"mechanism", "ε", "MSE", "clients", "unbiased"},
		Rows: []experiment.Row{
			{"CoCo", 5.0, 1.0 / 3, 2000, true},
			{"<a, \"b\"\tc>", math.NaN(), 123456.789, int64(math.MaxInt64), false},
			{nil, math.Inf(1), math.Inf(-1), -1, nil},
		},
		Verdicts: []experiment.Verdict{
			{Claim: "MSE < 1 & more", Holds: true, Detail: "0.3333"},
			{Claim: "it is unbiased", Section: "3", Quote: "is unbiased", Criterion: "0 %", Holds: false, Ours: "0.2 %"},
			{Claim: "its clip is the best", Missing: "the data are not there", Detail: "two clips"},
		},
		Notes: []string{"one seed"},
	}
}

func TestPrint(t *testing.T) {
	const want = `mechanism   ε     MSE        clients              unbiased
CoCo        5     0.3333     2000                 true
<a, "b" c>  NaN   1.235e+05  9223372036854775807  false
–           +Inf  -Inf       -1                   –

yes: MSE < 1 & more (0.3333)
no:  it is unbiased (paper: is unbiased; criterion: 0 %; ours: 0.2 %)
cannot be settled: its clip is the best (the data are not there; two clips)

Note: one seed
`
	var out bytes.Buffer
	r := small()
	if err := experiment.Print(&out, r); err != nil || out.String() != want {
		t.Errorf("error %v, printed\n%s\nwant\n%s", err, out.String(), want)
	}
	if got := r.Rows[1][0]; got != small().Rows[1][0] {
		t.Errorf("Print changed a cell to %q", got)
	}
	out.Reset()
	if err := experiment.Print(&out, &experiment.Result{Columns: []string{"a\nb"}}); err != nil || out.String() != "a b\n" {
		t.Errorf("error %v, printed %q", err, out.String())
	}
}

func TestGuaranteesArePrintedRoundedUp(t *testing.T) {
	var out bytes.Buffer
	r := &experiment.Result{
		Columns: []string{"epsilon_central", "delta", "epsilon_local", "error"},
		Rows:    []experiment.Row{{0.988611, 1.00004e-6, 4.5034, 4.50311}, {0.0, 0.0, math.Inf(1), 0.0}},
	}
	const want = "epsilon_central  delta      epsilon_local  error\n0.9887           1.001e-06  4.504          4.503\n0                0          +Inf           0\n"
	if err := experiment.Print(&out, r); err != nil || out.String() != want {
		t.Errorf("error %v, printed\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestPrintReportsTheWritersError(t *testing.T) {
	full := errors.New("full")
	if err := experiment.Print(failing{full}, small()); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}

func TestPrintLeavesTheColumnNames(t *testing.T) {
	r := &experiment.Result{Columns: []string{"a\tb"}}
	if err := experiment.Print(&bytes.Buffer{}, r); err != nil || r.Columns[0] != "a\tb" {
		t.Errorf("error %v, column %q", err, r.Columns[0])
	}
}

type failing struct{ err error }

func (w failing) Write([]byte) (int, error) { return 0, w.err }
