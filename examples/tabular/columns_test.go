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
	half := 1 / math.Sqrt(float64(len(s.inputs)))
	for _, c := range []struct {
		age, sector, income string
		x                   []float64
		y                   float64
	}{
		{"60", "public", "low", []float64{half, half, 0}, 0},
		{" 40 ", " private ", " high ", []float64{0, 0, half}, 1},
		{"-1e300", "", "?", []float64{-half, 0, 0}, 0},
		{"NaN", "PUBLIC", "low", []float64{0, 0, 0}, 0},
		{"1e999", "public", "high", []float64{0, half, 0}, 1},
		{"", "private", "high", []float64{0, 0, half}, 1},
	} {
		cells := map[string]string{"age": c.age, "sector": c.sector, "income": c.income}
		x, y := s.row(func(name string) string { return cells[name] })
		if !slices.Equal(x, c.x) || y != c.y {
			t.Errorf("%v: %v and %g, want %v and %g", cells, x, y, c.x, c.y)
		}
	}
	number := someSchema(t, "age=20..60,wage=0..10", "wage=0..100")
	if x, y := number.row(func(name string) string { return map[string]string{"age": "30", "wage": "75"}[name] }); !slices.Equal(x, []float64{-0.5}) || y != 0.5 {
		t.Errorf("%v and %g, want −0.5 and 0.5", x, y)
	}
}

func TestWhatIsNoSchemaIsAnError(t *testing.T) {
	for _, c := range []struct{ columns, target, want string }{
		{"age", "y=0..1", "-columns: got \"age\""},
		{"=0..1", "y=0..1", "-columns: got"},
		{"age=1..1", "y=0..1", "-columns: got"},
		{"age=2..1", "y=0..1", "-columns: got"},
		{"age=NaN..1", "y=0..1", "-columns: got"},
		{"age=-1.7e308..1.7e308", "y=0..1", "-columns: got"},
		{"age=0..inf", "y=0..1", "-columns: got"},
		{"sector=one", "y=0..1", "-columns: got"},
		{"sector=a|a", "y=0..1", "-columns: got"},
		{"sector=a||b", "y=0..1", "-columns: got"},
		{"", "y=0..1", "-columns: got"},
		{"age=0..1,age=0..2", "y=0..1", "-columns: got \"age\", rule: must name each column once"},
		{"age=0..1", "y=0..1,z=0..1", "-target: got"},
		{"age=0..1", "y", "-target: got"},
		{"age=0..1", "age=0..1", "must have a column beside the target"},
		{"s=" + strings.Repeat("x|", 1000) + "y", "y=0..1", "-columns: got"},
	} {
		if _, err := parseSchema(c.columns, c.target); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s, %s: %v, want %s", c.columns, c.target, err, c.want)
		}
	}
}
