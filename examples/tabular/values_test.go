package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/command"
)

const manyCities = 300

func city(i int) string { return fmt.Sprintf("city %d, land", i) }

// cities writes a file of 300 values, which have a comma.
func cities(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("\ufeff")
	for i := range manyCities {
		fmt.Fprintf(&text, "%s\r\n\n", city(i))
	}
	path := filepath.Join(t.TempDir(), "cities.txt")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A value of a file has a place of its own, or a bucket that Python computes alike:
// int.from_bytes(hashlib.sha256("city\0São Paulo".encode()).digest()[:8], "big") % 64.
func TestManyValuesHavePlacesOrBuckets(t *testing.T) {
	path := cities(t)
	for _, c := range []struct {
		known  string
		width  int
		places map[string]int // −1: none
		name   string
		lost   string
	}{
		{"@" + path, manyCities, map[string]int{city(0): 0, city(299): 299, "São Paulo": -1, "": -1}, "city=" + city(5), ""},
		{"@" + path + "#64", 64, map[string]int{city(0): 34, city(299): 4, "São Paulo": -1, "": -1}, "city#5", "cities.txt has 300 values, and 299 of them share a bucket."},
		{"#64", 64, map[string]int{" " + city(0) + " ": 34, city(299): 4, "São Paulo": 53, " ": -1}, "city#5", "These rows have 3 values, and 0 of them share a bucket. A misspelt value"},
	} {
		s := someSchema(t, "city="+c.known, "y=0..1")
		column := s.inputs[0]
		if s.width() != c.width || column.String() != "city="+c.known || column.names()[5] != c.name || len(column.names()) != c.width {
			t.Errorf("%s: width %d, written %v, sixth name %s, want %d and %s", c.known, s.width(), column, column.names()[5], c.width, c.name)
		}
		table, misfits := newTable(s, "row"), 0
		for cell, want := range c.places {
			x, _, how := s.row([]string{cell, "0.5"})
			if got := slices.Index(x, 1); got != want || (how[0] == ignored) != (want < 0) {
				t.Errorf("%s: %q is at %d, %v, want %d", c.known, cell, got, how[0], want)
			}
			table.add(1, []string{cell, "0.5"}, false)
			if want < 0 {
				misfits++
			}
		}
		if got := table.misfits.of(0); got != misfits {
			t.Errorf("%s: %d misfits, want %d", c.known, got, misfits)
		}
		if lost := strings.Join(table.hashed.sentences(), " "); !strings.Contains(lost, c.lost) || (lost == "") != (c.lost == "") {
			t.Errorf("%s: %q, want %q", c.known, lost, c.lost)
		}
	}
}

// A value of a file in other letters is asked about.
func TestTheSpellingOfAFilesValuesIsAskedAbout(t *testing.T) {
	table := newTable(someSchema(t, "city=@"+cities(t), "y=0..1"), "row")
	for i := range 5 {
		table.add(i, []string{strings.ToUpper(city(7)), "0.5"}, false)
	}
	if err := table.misfits.check(); err == nil || !strings.Contains(err.Error(), `"city 7, land"`) {
		t.Errorf("%v, want a question about city 7", err)
	}
}

func TestWrongValuesAreRefused(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "v.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "@" + path
	}
	var many strings.Builder
	for i := range maxValues + 1 {
		fmt.Fprintln(&many, i)
	}
	for known, want := range map[string]string{
		"#1":                               "must have from 2 to 1000 buckets behind the #: type c=#64",
		"#1001":                            "must have from 2 to 1000 buckets",
		"#":                                "must have from 2 to 1000 buckets",
		"#99999999999999999999":            "must have from 2 to 1000 buckets",
		"#many":                            "must have a number of buckets behind the #, from 2 to 1000: type c=#64",
		"@no/such":                         "must name a file with a value in each line behind the @",
		"@":                                "must name a file with a value in each line behind the @",
		write("a\n"):                       "from 2 to 1000 values, one in each line: it has 1",
		write("a\nb\n\na \n"):              "line 4 repeats a",
		write("a\n\xff\n"):                 "line 2 is not UTF-8",
		write(many.String()):               "it has more: type c=@",
		write(strings.Repeat("\n", 5<<20)): "it has more than 4194304 bytes",
		write(strings.Repeat("x", 1<<17)):  "token too long",
	} {
		if _, err := parseSchema("c="+known, "y=0..1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: %v, want %s", known, err, want)
		}
	}
	if s, err := parseSchema("c="+write(many.String())+"#64", "y=0..1"); err != nil || s.width() != 64 {
		t.Errorf("more values in buckets: %v", err)
	}
	if _, err := parseSchema("a=0..1", "c=#64"); err == nil || !strings.Contains(err.Error(), "must list its values") {
		t.Errorf("a target in buckets: %v", err)
	}
}

func FuzzReadValues(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"))
	f.Add([]byte("\ufeffa\n\xff\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := readValues(bytes.NewReader(data), 10)
		if err != nil {
			return
		}
		slices.Sort(values)
		if n := len(values); n < 2 || n > 10 || len(slices.Compact(values)) != n || slices.Contains(values, "") {
			t.Errorf("values %q", values)
		}
	})
}

// scoreOf runs the program, and returns what it prints and its score on rows for testing.
func scoreOf(t *testing.T, args ...string) (printed string, score float64) {
	t.Helper()
	dir := t.TempDir()
	var out bytes.Buffer
	if err := tabular(t.Context(), append(args, "--out", dir), command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	var summary struct {
		Score float64 `json:"test_score"`
	}
	raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err == nil {
		err = json.Unmarshal(raw, &summary)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), summary.Score
}

// Three hundred cities with odds of their own are learnt one by one, and worse in buckets. Without the column there is little to learn. All rows are
// seeded, and nothing is drawn in the run: the scores repeat. 2000 rows for testing have a standard error of 0.011, so both steps are above four of
// them.
func TestManyCitiesAreLearnt(t *testing.T) {
	path, rng := cities(t), rand.New(rand.NewPCG(5, 6))
	odds := make([]float64, manyCities)
	for i := range odds {
		odds[i] = 3 * rng.NormFloat64()
	}
	var table strings.Builder
	table.WriteString("age,city,y\n")
	for range 10_000 {
		age, i := 17+rng.IntN(74), rng.IntN(manyCities)
		y := "no"
		if rng.Float64() < 1/(1+math.Exp(-odds[i]-float64(age-53)/40)) {
			y = "yes"
		}
		fmt.Fprintf(&table, "%d,%q,%s\n", age, city(i), y)
	}
	data := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(data, []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	score := func(known string) float64 {
		out, score := scoreOf(t, "--data", data, "--columns", "age=17..90~53±21"+known, "--target", "y=no|yes", "--mechanism", "none", "--rounds", "36")
		if strings.Contains(known, "#") != strings.Contains(out, "hashed             city has 64 buckets.") {
			t.Errorf("%s: the run says\n%s", known, out)
		}
		return score
	}
	without, buckets, all := score(""), score(",city=#64"), score(",city=@"+path)
	if all < buckets+0.05 || buckets < without+0.05 {
		t.Errorf("accuracy %.3f without cities, %.3f in buckets and %.3f with all of them", without, buckets, all)
	}
	t.Logf("accuracy %.3f without cities, %.3f in buckets and %.3f with all of them", without, buckets, all)
}
