package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/command"
)

// The predictions of the rows for testing have the score that the run prints, for each kind of target.
func TestPredictionsHaveThePrintedScore(t *testing.T) {
	const rows = 1500
	const head = "age,sector,target\n"
	for target, answer := range map[string]func(i int) string{
		"target=low|high":   func(i int) string { return []string{"low", "high"}[(i*7%74/37+i%11/8)%2] },
		"target=a|b|c":      func(i int) string { return []string{"a", "b", "c"}[(i+i%11/8)%3] },
		"target=1000..1100": func(i int) string { return strconv.Itoa(1000 + (i*7)%74 + i%11) },
	} {
		dir := t.TempDir()
		var all, forTest strings.Builder
		all.WriteString(head)
		forTest.WriteString("sector;customer;age\n") // another order and separator, and no target
		var want []string
		for i := range rows {
			age, sector := 17+i*7%74, []string{"public", "private", "none"}[i%3]
			fmt.Fprintf(&all, "%d,%s,%s\n", age, sector, answer(i))
			if i%5 == 4 {
				fmt.Fprintf(&forTest, "%s;c%d;%d\n", sector, i, age)
				want = append(want, answer(i))
			}
		}
		forTest.WriteString("elsewhere;\"last; and least\";200\n")
		for name, text := range map[string]string{"all.csv": all.String(), "test.csv": forTest.String()} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		args := []string{"--data", filepath.Join(dir, "all.csv"), "--columns", "age=17..90,sector=public|private|none", "--target", target, "--mechanism", "none",
			"--rounds", "40", "--expand", "products", "--out", filepath.Join(dir, "run"), "--predict", filepath.Join(dir, "test.csv"), "--id", "customer"}
		if err := tabular(t.Context(), args, command.Streams{Out: &out, Err: io.Discard}); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, "run", "predictions.csv"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines, err := csv.NewReader(f).ReadAll()
		if err != nil || len(lines) != len(want)+2 {
			t.Fatalf("%s: %d lines, %v, want %d", target, len(lines), err, len(want)+2)
		}
		if first, last := lines[1], lines[len(lines)-1]; first[0] != "2" || first[len(first)-1] != "" || last[len(last)-1] != "age, sector" {
			t.Errorf("%s: the first row is %q, the last %q", target, first, last)
		} else if first[1] != "c4" || last[1] != "last; and least" || lines[0][1] != "customer" {
			t.Errorf("%s: the rows are named %q to %q in %q", target, first[1], last[1], lines[0])
		}
		score, around, mean := 0., 0., 0.
		for _, v := range want {
			y, _ := strconv.ParseFloat(v, 64)
			mean += y / float64(len(want))
		}
		for i, v := range want {
			line := lines[i+1]
			if strings.Contains(target, "|") {
				if line[2] == v {
					score += 1 / float64(len(want))
				}
				sum, best, its := 0., 0., 0.
				for k, p := range line[3 : len(line)-1] {
					chance, err := strconv.ParseFloat(p, 64)
					if err != nil {
						t.Fatal(err)
					}
					sum, best = sum+chance, max(best, chance)
					if lines[0][k+3] == "chance of "+line[2] {
						its = chance
					}
				}
				if math.Abs(sum-1) > 2e-4 || its != best {
					t.Errorf("%s: chances of %q", target, line)
				}
				continue
			}
			y, _ := strconv.ParseFloat(v, 64)
			z, err := strconv.ParseFloat(line[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			score, around = score+(z-y)*(z-y), around+(y-mean)*(y-mean)
		}
		if around > 0 {
			score = 1 - score/around
		}
		printed := regexp.MustCompile(`\ntest [a-zA-Z²]+ +([0-9.]+)`).FindStringSubmatch(out.String())
		if printed == nil || fmt.Sprintf("%.4f", score) != printed[1] || score < 0.5 {
			t.Errorf("%s: the predictions have %.4f, and the run printed %q:\n%s", target, score, printed, out.String())
		}
		if text := out.String(); !strings.Contains(text, "predictions.csv\n") || !strings.Contains(strings.Join(strings.Fields(text), " "), `1 of 301 rows: age is not from 17 to 90 (first: line 302, "200")`) {
			t.Errorf("%s:\n%s", target, text)
		}
	}
}

// A run without new rows says that the predictions beside it are not of its model.
func TestEarlierPredictionsAreNamed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "predictions.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args := []string{"--clients", "200", "--mechanism", "none", "--rounds", "30", "--out", dir}
	if err := tabular(t.Context(), args, command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), "predictions.csv is an earlier model's") {
		t.Error(out.String())
	}
}
