package main

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func someSchema(t testing.TB, columns, target string) schema {
	t.Helper()
	s, err := parseSchema(columns, target)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestARowBecomesPublicNumbers(t *testing.T) {
	s := someSchema(t, "age=20..60, sector=public | private,income=low|high", "income=low|high")
	if got, want := s.names(), []string{"age", "sector=public", "sector=private"}; !slices.Equal(got, want) {
		t.Errorf("values %v, want %v", got, want)
	}
	for _, c := range []struct {
		age, sector, income string
		x                   []float64
		y                   float64
		how                 []fit
	}{
		{"60", "public", "low", []float64{1, 1, 0}, 0, []fit{fits, fits, fits}},
		{" 40 ", " private ", " high ", []float64{0, 0, 1}, 1, []fit{fits, fits, fits}},
		{"-1e300", "", "?", []float64{-1, 0, 0}, 0, []fit{clipped, ignored, ignored}},
		{"NaN", "PUBLIC", "low", []float64{math.NaN(), 0, 0}, 0, []fit{ignored, ignored, fits}},
		{"1e999", "public", "high", []float64{math.NaN(), 1, 0}, 1, []fit{ignored, fits, fits}},
		{"", "private", "high", []float64{math.NaN(), 0, 1}, 1, []fit{ignored, fits, fits}},
	} {
		cells := []string{c.age, c.sector, c.income}
		x, y, how := s.row(cells)
		if !slices.EqualFunc(x, c.x, same) || y != c.y || !slices.Equal(how, c.how) {
			t.Errorf("%v: %v, %g and %v, want %v, %g and %v", cells, x, y, how, c.x, c.y, c.how)
		}
	}
	number := someSchema(t, "age=20..60,wage=0..10", "wage=0..100")
	if x, y, how := number.row([]string{"30", "75"}); !slices.Equal(x, []float64{-0.5}) || y != 0.5 || !slices.Equal(how, []fit{fits, fits}) {
		t.Errorf("%v, %g and %v, want −0.5 and 0.5 that fit", x, y, how)
	}
}

// same says that two numbers are equal, or both unknown.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// What is known of a column beside its range is read, and written as it was read.
func TestMeanAndSpreadAndLogarithmsAreDeclared(t *testing.T) {
	s := someSchema(t, "age=17..90~40±15,hours=0..100~ 38 +- 12,pay=0..1000000~log,sector=a|b", "y=0..10~4±2")
	var written []string
	for _, c := range s.columns() {
		written = append(written, c.String())
	}
	if want := []string{"age=17..90~40±15", "hours=0..100~38±12", "pay=0..1e+06~log", "sector=a|b", "y=0..10~4±2"}; !slices.Equal(written, want) {
		t.Errorf("columns %q, want %q", written, want)
	}
	// The logarithm of a thousandth of the range and more is linear: 0 is −1, and steps of a factor of 10 are equal.
	pay := s.inputs[2]
	var at []float64
	for _, v := range []float64{0, 1e4, 1e5, 1e6} {
		at = append(at, pay.place(v))
	}
	if want := math.Log(11)/math.Log(1001)*2 - 1; at[0] != -1 || at[3] != 1 || math.Abs(at[1]-want) > 1e-12 || math.Abs((at[3]-at[2])-(at[2]-at[1])) > 0.03 {
		t.Errorf("0, 10^4, 10^5 and 10^6 are at %.4f, want −1, %.4f, equal steps, 1", at, want)
	}
}

func TestWhatIsNoSchemaIsAnError(t *testing.T) {
	for _, c := range []struct{ columns, target, want string }{
		{"age", "y=0..1", "--columns: got \"age\", rule: must say what is in the column: type age=LOW..HIGH for numbers, or age=A|B with its values"},
		{"=0..1", "y=0..1", "--columns: got"},
		{"age=1..1", "y=0..1", "must be a range from one number to a larger one"},
		{"age=2..1", "y=0..1", "--columns: got \"age=2..1\", rule: must begin with the smaller number: type age=1..2"},
		{"age=17..90;school=0..20", "y=0..1", "rule: must have commas between columns: type age=17..90,school=0..20"},
		{"age=17..90 school=0..20 hours=1..9", "y=0..1", "rule: must have commas between columns: type age=17..90,school=0..20,hours=1..9"},
		{"age=17-90", "y=0..1", "rule: must have .. between the ends of a range: type age=17..90"},
		{"age=-1 to 1.5", "y=0..1", "rule: must have .. between the ends of a range: type age=-1..1.5"},
		{"age=NaN..1", "y=0..1", "must be two numbers with .. between them"},
		{"age=-1.7e308..1.7e308", "y=0..1", "--columns: got"},
		{"age=0..inf", "y=0..1", "--columns: got"},
		{"age=0..1~", "y=0..1", "must have a mean and a spread, or log, behind the ~: type age=0..1~0.5±0.16666666666666666, or with +- for ±, or age=0..1~log"},
		{"age=0..1~0.5", "y=0..1", "must have a mean and a spread"},
		{"age=0..1~2±0.1", "y=0..1", "must have a mean within the range: type age=0..1~0.5±"},
		{"age=0..1~0.5±0.001", "y=0..1", "must have a spread from 0.00390625 to 1, a share of the range"},
		{"age=0..1~0.5±2", "y=0..1", "must have a spread from 0.00390625 to 1"},
		{"age=0..1", "y=0..1~log", "--target: got \"y=0..1~log\", rule: must be without ~log"},
		{"sector=one", "y=0..1", `must list from 2 to 1000 values, and lists 1: type "sector=a|b", with the quotes, or a range such as sector=0..100, or sector=#64 to have`},
		{"age=0..1", "y=one", `and lists 1: type "y=a|b", with the quotes, or a range such as y=0..100`},
		{"sector=a|b|a", "y=0..1", "must list each value once, and a is there twice"},
		{"sector=a||b", "y=0..1", "must have a value on both sides of each |"},
		{"", "y=0..1", "--columns: got"},
		{"age=0..1,age=0..2", "y=0..1", "--columns: got \"age\", rule: must name each column once"},
		{"age=0..1", "y=0..1,z=0..1", "--target: got"},
		{"age=0..1", "y", "--target: got"},
		{"age=0..1", "y=90..17", "--target: got \"y=90..17\", rule: must begin with the smaller number: type y=17..90"},
		{"age=0..1", "y=LOW|LOW", "--target: got \"y=LOW|LOW\", rule: must list each value once, and LOW is there twice"},
		{"age=0..1", "age=0..1", "must have a column beside the target"},
		{"s=" + strings.Repeat("x|", 1000) + "y", "y=0..1", "--columns: got"},
	} {
		if _, err := parseSchema(c.columns, c.target); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s, %s: %v, want %s", c.columns, c.target, err, c.want)
		}
	}
}

// The values of a list make the best model longer, and a number does not.
func TestListsMakeTheBestModelLonger(t *testing.T) {
	for columns, want := range map[string]float64{"a=0..1,b=0..1": 1, "a=0..1,b=u|v|w": math.Sqrt2, "b=#64": 8} {
		if got := someSchema(t, columns, "y=0..1").spreadOut(); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %g, want %g", columns, got, want)
		}
	}
}
