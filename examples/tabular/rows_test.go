package main

import (
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

var long = flag.Bool("long", false, "train three times 30 rounds")

const people = `id,wage,age,note
1,10,20,"a, b"
2,20,30,
3,30,40,
4,40,50,
5,50,60,
6,60,,x
7,70,20,
8,80,20,
9,85,20,
10,90,20,
`

func TestEveryFifthRowIsForTesting(t *testing.T) {
	s := someSchema(t, "age=20..60", "wage=0..100")
	path := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(path, []byte(people), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := readFile(t.Context(), path, ',', s)
	if err != nil {
		t.Fatal(err)
	}
	var ages []float64
	for _, x := range table.train.x {
		ages = append(ages, x...)
	}
	if want := []float64{-1, -0.5, 0, 0.5, math.NaN(), -1, -1, -1}; !slices.EqualFunc(ages, want, same) {
		t.Errorf("ages %v, want %v", ages, want)
	}
	if test := table.test; len(test.y) != 2 || test.x[0][0] != 1 || test.y[0] != 0 || test.y[1] != 0.8 {
		t.Errorf("test rows %v, want the fifth and the tenth", test)
	}
}

func TestWhatIsNoTableIsAnError(t *testing.T) {
	s := someSchema(t, "age=20..60", "wage=0..100")
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                     {"", "header: got \"nothing\""},
		"no such column":              {"id,wage\n1,2\n", `must have the column "age"`},
		"too few rows":                {"age,wage\n21,2\n23,4\n", "rows: got 2"},
		"a row is short":              {"age,wage\n1,2\n3\n", "line 3"},
		"a quote is open":             {"age,wage\n\"1,2\n", "line"},
		"a long cell that is no text": {strings.Repeat("\x80", 300) + "\n", "must be UTF-8"},
		"no header at all":            {"\n\n", "header: got \"nothing\""},
	} {
		if _, err := read(strings.NewReader(c.text), ',', s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	var wrong *fl.ParamError
	if _, err := readFile(t.Context(), filepath.Join(t.TempDir(), "none.csv"), ',', s); !errors.As(err, &wrong) || wrong.Param != "--data" {
		t.Errorf("no such file: %v, want an error about --data", err)
	}
}

// Whatever a file holds, its rows are within what is public, and finite once they are scaled.
func FuzzRead(f *testing.F) {
	f.Add([]byte(people))
	f.Add([]byte("age,wage,sector\n20,1,a\n90,2,b\nNA,3,c\n40,4,\n50,5,a\n60,6,a\n60,7,a\n60,8,a\n60,9,a\n60,10,a\n"))
	f.Add([]byte("age,wage,sector\n1e400,-1,a\n,,\n\"\",2,b\n1,1,1\n2,2,2\n"))
	s := someSchema(f, "age=20..60,sector=a|b", "wage=0..100")
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := readUnseen(strings.NewReader(string(data)), ',', s, "sector"); err == nil {
			for i, x := range newScaling(s).of(rows{r.x, make([]float64, len(r.x))}).x {
				if len(x) != 3 || slices.ContainsFunc(x, func(v float64) bool { return !(math.Abs(v) <= mostSpreads) }) || len(r.lines) != len(r.x) || len(r.ids) != len(r.x) || len(r.unfit) != len(r.x) {
					t.Errorf("row %d to predict is %v", i, x)
				}
			}
		}
		table, err := read(strings.NewReader(string(data)), ',', s)
		if err != nil {
			return
		}
		train, test := table.train, table.test
		scaled := newScaling(s).of(train)
		for i, x := range append(train.x, test.x...) {
			if len(x) != 3 || slices.ContainsFunc(x, func(v float64) bool { return math.Abs(v) > 1 }) {
				t.Errorf("row %d is %v", i, x)
			}
			if i < len(scaled.x) && slices.ContainsFunc(scaled.x[i], func(v float64) bool { return !(math.Abs(v) <= mostSpreads) }) {
				t.Errorf("scaled row %d is %v", i, scaled.x[i])
			}
		}
		for _, y := range append(train.y, test.y...) {
			if !(math.Abs(y) <= 1) {
				t.Errorf("target %g", y)
			}
		}
	})
}

// Generated rows use the ranges that they declare: no column is constant, and few are clipped.
func TestGeneratedRowsAreWithinWhatIsPublic(t *testing.T) {
	s := someSchema(t, generatedColumns, "wage=0..100")
	table := generate(rand.New(rand.NewPCG(1, 2)), 4000, 10, s)
	if wrong := table.misfits.sentences(); len(wrong) > 1 { // some wages
		t.Errorf("cells do not fit: %q", wrong)
	}
	r := table.train
	for j, name := range s.names() {
		least, most, ends := math.Inf(1), math.Inf(-1), 0
		for _, x := range r.x {
			v := x[j]
			least, most = min(least, v), max(most, v)
			if v == 1 && !strings.Contains(name, "=") {
				ends++
			}
		}
		if most-least < 0.5 || ends > 40 {
			t.Errorf("%s: from %.2f to %.2f, %d rows at the end of the range", name, least, most, ends)
		}
	}
}
