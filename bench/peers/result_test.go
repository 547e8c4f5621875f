package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// table has two rows with numbers that are easy to find.
func table(t *testing.T) result {
	return newResult(t.Context(), config{task: small, each: time.Second}, []row{
		{about: about{Name: "first", Guarantee: "ε"}, Bytes: 6, Join: 70, Client: 1.5, Server: 12.25, Finish: 300, Ratios: ratios{1, 1, 1}},
		{about: about{Name: "second", Between: 4096}, Bytes: 600, Join: 8, Client: 3, Server: 6.125, Finish: 30, Ratios: ratios{100, 2, 0.5}},
	})
}

func TestTableHoldsEveryNumber(t *testing.T) {
	var b bytes.Buffer
	if err := table(t).writeTable(&b); err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(b.String()) {
		rows = append(rows, strings.Fields(line))
	}
	for _, want := range [][]string{
		{"1", "6", "1.00", "1.50", "1.00", "12.2", "1.00", "70.0", "300"},
		{"2", "600", "100", "3.00", "2.00", "6.12", "0.50", "8.00", "30.0"},
		{"1", "first", "ε", "0"},
		{"2", "second", "4096"},
		strings.Fields("cd bench/peers && go run . --dim 50 --sparsity 4 --epsilon 5 --time 1s"),
	} {
		found := false
		for _, row := range rows {
			found = found || reflect.DeepEqual(row, want)
		}
		if !found {
			t.Errorf("no line with %q in\n%s", want, &b)
		}
	}
}

func TestTheResultHoldsEveryNumber(t *testing.T) {
	found := table(t).found()
	if err := found.Validate(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []experiment.Row{
		{"first", "", "", "ε", 6.0, 1.5, 12.25, 1.0, 70.0, 300.0, 0},
		{"second", "", "", "", 600.0, 3.0, 6.125, 0.5, 8.0, 30.0, 4096},
	} {
		if !reflect.DeepEqual(found.Rows[i], want) {
			t.Errorf("row %v, want %v", found.Rows[i], want)
		}
	}
	if !strings.Contains(found.Notes[0], "50 coordinates, 4 of them non-zero") {
		t.Errorf("notes %q", found.Notes)
	}
}
