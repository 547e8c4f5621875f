package main

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The answers in docs/accounting.md are what the commands beside them print: each number of a
// cell, up to a bracket or semicolon, is one of theirs, rounded to its digits.
func TestAnswersOnThePage(t *testing.T) {
	text, err := os.ReadFile("../../docs/accounting.md")
	if err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(`\d+(?:\.\d+)?(?:e[-+]\d+)?`)
	var command []string
	asked := 0
	for _, row := range regexp.MustCompile("(?m)^\\| [^|]* \\| (the same with )?`(?:hushgrad account )?([^`]*)` \\| ([^|]*) \\|$").FindAllStringSubmatch(string(text), -1) {
		args := strings.Fields(row[2])
		if row[1] != "" {
			args = append(command[:len(command):len(command)], args...)
		}
		command = args
		asked++
		if args[0] == "plan" && !*long { // rehearsals of runs take seconds
			continue
		}
		out := ask(t, nil, args...)
		answer, _, _ := strings.Cut(row[3], "(")
		answer, _, _ = strings.Cut(answer, ";")
		answer = regexp.MustCompile(`(\d)[ \x{a0}\x{202f}](\d{3})`).ReplaceAllString(answer, "$1$2")
		answer = strings.NewReplacer("δ = 10⁻⁶", "", "30 reports", "").Replace(answer)
		for _, want := range number.FindAllString(answer, -1) {
			_, fraction, _ := strings.Cut(want, ".")
			unit, found := math.Pow10(-len(fraction)), false
			said, _ := strconv.ParseFloat(want, 64)
			for _, got := range number.FindAllString(out, -1) {
				v, _ := strconv.ParseFloat(got, 64)
				found = found || v <= said+1e-9 && v > said-unit
			}
			if !found {
				t.Errorf("%s: the page says %s, the command prints\n%s", strings.Join(args, " "), want, out)
			}
		}
	}
	if asked < 6 {
		t.Errorf("the page asks %d questions", asked)
	}
}
