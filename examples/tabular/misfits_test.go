package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const programEnv = "HUSHGRAD_TABULAR_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program runs the program and returns what it prints, lines joined, and its exit code.
func program(t *testing.T, args ...string) (out, failure string, code int) {
	t.Helper()
	run := exec.CommandContext(t.Context(), os.Args[0], args...)
	run.Env = append(os.Environ(), programEnv+"=1")
	var stdout, stderr bytes.Buffer
	run.Stdout, run.Stderr = &stdout, &stderr
	_ = run.Run() // the code says it
	join := func(b bytes.Buffer) string { return strings.Join(strings.Fields(b.String()), " ") }
	return join(stdout), join(stderr), run.ProcessState.ExitCode()
}

// tableOf is a CSV of 1000 people. change may change a row, which has the cells age, sector and income.
func tableOf(header, separator, end string, change func(i int, row []string)) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(header, ",", separator) + end)
	for i := range 1000 {
		row := []string{fmt.Sprint(17 + i%74), []string{"public", "private", "none"}[i%3], []string{"low", "high"}[i%74/37]}
		if change != nil {
			change(i, row)
		}
		b.WriteString(strings.Join(row, separator) + end)
	}
	return b.String()
}

// A description that does not fit the rows is counted, and trains on nothing that it does not fit. Where
// too many rows do not fit, the program refuses them. docs/tables.md says how many that are.
func TestWhatDoesNotFitIsCountedOrRefused(t *testing.T) {
	const (
		header  = "age,sector,income"
		columns = "age=17..90,sector=public|private|none"
		target  = "income=low|high"
	)
	always := func(int, []string) bool { return true }
	put := func(column int, cell string, where func(int, []string) bool) func(int, []string) {
		return func(i int, row []string) {
			if where(i, row) {
				row[column] = cell
			}
		}
	}
	every := func(n, first int) func(int, []string) bool {
		return func(i int, _ []string) bool { return i%n == first }
	}
	for name, c := range map[string]struct {
		text, columns, target string
		args                  []string
		refused               string   // what the refusal says; empty where the program trains
		printed               []string // what a run prints
	}{
		"all fits":      {tableOf(header, ",", "\n", nil), columns, target, nil, "", []string{"800 rows of ", "people.csv for training, 200 for testing logistic"}},
		"a spreadsheet": {"\ufeff" + tableOf(header, ",", "\r\n", nil), columns, target, nil, "", []string{"800 rows of ", "people.csv for training, 200 for testing logistic"}},
		"upper case": {tableOf(header, ",", "\n", nil), columns, "income=LOW|HIGH", nil,
			`--target: got "income=LOW|HIGH", rule: must fit at least 99 % of the rows: 1000 of 1000 rows: income is not LOW or HIGH (first: line 2, "low"); mend the description or the rows (did you mean "income=low|high"?)`, nil},
		"other values": {tableOf(header, ",", "\n", nil), columns, "income=poor|rich", nil, `1000 of 1000 rows: income is not poor or rich (first: line 2, "low"); mend the description or the rows (its first values are "low" and "high")`, nil},
		"some targets of training": {tableOf(header, ",", "\n", put(2, "NA", every(200, 2))), columns, target, nil, "",
			[]string{"795 rows of ", "people.csv for training, 200 for testing", `5 of 1000 rows: income is not low or high (first: line 4, "NA"); such a row neither trains nor is scored`}},
		"some targets of testing": {tableOf(header, ",", "\n", put(2, "", every(200, 4))), columns, target, nil, "",
			[]string{"800 rows of ", "people.csv for training, 195 for testing", `5 of 1000 rows: income is not low or high (first: line 6, "")`}},
		"too many targets": {tableOf(header, ",", "\n", put(2, "NA", every(90, 4))), columns, target, nil, "12 of 1000 rows: income is not low or high", nil},
		"numbers": {tableOf(header, ",", "\n", func(i int, row []string) {
			put(0, "120", every(100, 7))(i, row)
			put(0, "n/a", every(100, 8))(i, row)
			put(1, "NONE", every(20, 5))(i, row)
		}), columns, target, nil, "", []string{"800 rows of ", "people.csv for training, 200 for testing",
			`10 of 1000 rows: age is not from 17 to 90 (first: line 9, "120"); the nearest end stands for it`,
			`10 of 1000 rows: age is not a number (first: line 10, "n/a"); the centre of its column stands for it`,
			`50 of 1000 rows: sector is not public, private or none (first: line 7, "NONE"); zeros stand for it (write "NONE" as "none" in the rows)`}},
		"some spellings": {tableOf(header, ",", "\n", func(i int, row []string) {
			put(1, "NONE", every(20, 5))(i, row)
			put(1, "Public", every(40, 6))(i, row)
			put(1, "other", every(100, 7))(i, row)
		}), columns, target, nil, "", []string{`85 of 1000 rows: sector is not public, private or none (first: line 7, "NONE"); zeros stand for it (write "Public" as "public" in the rows: in 75 of the first 85 such cells only upper and lower case differ)`}},
		"a column of other values": {tableOf(header, ",", "\n", put(1, "Public", always)), columns, target, nil,
			`--columns: got "sector=public|private|none", rule: must fit at least 50 % of the rows: 1000 of 1000 rows: sector is not public, private or none (first: line 2, "Public"); mend the description or the rows (did you mean "sector=Public|private|none"?)`, nil},
		"numeric targets beyond the range": {tableOf(header, ",", "\n", put(0, "91", every(200, 4))), "sector=public|private|none", "age=17..90", nil, "",
			[]string{"800 rows of ", "people.csv for training, 195 for testing", `5 of 1000 rows: age is not from 17 to 90 (first: line 6, "91"); the nearest end stands for it in training, and such a row is not scored`}},
		"one value alone":         {tableOf(header, ",", "\n", put(2, "low", always)), columns, target, nil, "there is nothing to learn", nil},
		"one value for testing":   {tableOf(header, ",", "\n", put(2, "low", every(5, 4))), columns, target, nil, "must have two different values in the rows for testing, every fifth", nil},
		"a header without end":    {strings.Repeat("age,", 1<<19), columns, target, nil, "is a quote missing in line 1 or below?", nil},
		"a header alone":          {header + "\n", columns, target, nil, "rows: got 0, rule: must be at least 5 with a target", nil},
		"an empty file":           {"", columns, target, nil, `header: got "nothing", rule: must name the columns`, nil},
		"a broken line in a cell": {tableOf(header, ",", "\n", put(1, "\"pub\nlic\"", every(200, 1))), columns, target, nil, "", []string{"800 rows of ", `5 of 1000 rows: sector is not public, private or none (first: line 3, "pub\nlic")`}},
		"one column":              {"age\n17\n18\n", columns, target, nil, `header: got "age", rule: must have the column "sector"`, nil},
		"decimal commas":          {tableOf(header, ";", "\n", func(_ int, row []string) { row[0] += ",5" }), columns, target, []string{"--separator", ";"}, `1000 of 1000 rows: age is not a number (first: line 2, "17,5"); mend the description or the rows (write "17,5" as "17.5" in the rows, with a decimal point)`, nil},
		"semicolons":              {tableOf(header, ";", "\n", nil), columns, target, nil, `header: got "age;sector;income", rule: must have cells between ',': type --separator ';'`, nil},
		"semicolons and quotes":   {tableOf(`"age","sector","income"`, ";", "\n", nil), columns, target, nil, "type --separator ';'", nil},
		"semicolons as typed":     {tableOf(header, ";", "\n", nil), columns, target, []string{"--separator", ";"}, "", []string{"800 rows of ", "people.csv for training, 200 for testing"}},
		"tabs":                    {tableOf(header, "\t", "\n", nil), columns, target, nil, "type --separator tab", nil},
		"a backslash and a t":     {tableOf(header, "\t", "\n", nil), columns, target, []string{"--separator", `\t`}, "", []string{"800 rows of "}},
		"tabs as typed":           {tableOf(header, "\t", "\n", nil), columns, target, []string{"--separator", "tab"}, "", []string{"800 rows of ", "people.csv for training, 200 for testing"}},
		"commas, not semicolons":  {tableOf(header, ",", "\n", nil), columns, target, []string{"--separator", ";"}, "type --separator ','", nil},
		"a reversed range":        {tableOf(header, ",", "\n", nil), "age=90..17", target, nil, `--columns: got "age=90..17", rule: must begin with the smaller number: type age=17..90`, nil},
		"a repeated value":        {tableOf(header, ",", "\n", nil), columns, "income=LOW|LOW", nil, `--target: got "income=LOW|LOW", rule: must list each value once, and LOW is there twice`, nil},
		"a repeated column":       {tableOf("age,income,income", ",", "\n", nil), "age=17..90", target, nil, `must have the column "income" once: rename one of them in the file`, nil},
		"names in upper case":     {tableOf("Age,Sector,Income", ",", "\n", nil), columns, target, nil, `must have the column "age" (did you mean "Age"?)`, nil},
		"a name with a slip":      {tableOf("aeg,sector,income", ",", "\n", nil), columns, target, nil, `must have the column "age" (did you mean "aeg"?)`, nil},
		"an old encoding":         {tableOf(header, ",", "\n", put(1, "priv\xe9", every(500, 3))), columns, target, nil, "line 5, column sector: got \"priv\\xe9\", rule: must be UTF-8", nil},
		"two bytes a letter":      {"\xff\xfea\x00g\x00e\x00", columns, target, nil, "must be UTF-8: convert the file with iconv -f utf-16 -t utf-8", nil},
		"old line ends":           {tableOf(header, ",", "\r", nil), columns, target, nil, "has a carriage return alone", nil},
		"an open quote":           {header + "\n17,public,low\n18,\"" + strings.Repeat("x\n", 1<<20), columns, target, nil, `row: got "more than 1048576 bytes", rule: must end before that: is a quote missing in line 3 or below?`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "people.csv")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"--data", path, "--columns", c.columns, "--target", c.target, "--rounds", "1", "--mechanism", "none"}, c.args...)
			out, failure, code := program(t, args...)
			if refused := code != 0; refused != (c.refused != "") || !strings.Contains(failure, c.refused) || refused && (code != 2 || out != "") {
				t.Errorf("exit code %d, printed %q and %q, want %q", code, out, failure, c.refused)
			}
			for _, want := range c.printed {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in %q", want, out)
				}
			}
			if strings.Contains(out+failure, "(write in") {
				t.Errorf("a word is missing in %q", out+failure)
			}
			if said := strings.Contains(out, "does not fit"); said != strings.Contains(strings.Join(c.printed, ""), " of 1000 rows: ") {
				t.Errorf("that a cell does not fit is printed: %t\n%s", said, out)
			}
		})
	}
}

// The generated table, too, is no reason to believe a description.
func TestAWrongTargetOfTheGeneratedTableIsRefused(t *testing.T) {
	const want = `--target: got "income=LOW|HIGH", rule: must fit at least 99 % of the rows: 70000 of 70000 rows: income is not LOW or HIGH (first: row 1, "low")`
	if out, failure, code := program(t, "--target", "income=LOW|HIGH"); code != 2 || out != "" || !strings.Contains(failure, want) {
		t.Errorf("exit code %d, printed %q and %q, want %q", code, out, failure, want)
	}
}

// Where most rows of a long table spell a value otherwise, the description is what is to be mended, however many they are.
func TestTheSpellingOfMostRowsCounts(t *testing.T) {
	s := someSchema(t, "sector=low|high", "y=0..1")
	for most, want := range map[string]string{"LOW": `did you mean "sector=LOW|high"?`, "low": `write "LOW" as "low" in the rows`} {
		m := newMisfits(s.columns(), len(s.inputs), "row")
		for i := range 9000 {
			cell, how := "LOW", ignored
			if (i%3 == 0) == (most == "LOW") {
				cell, how = "low", fits
			}
			m.add(i, []string{cell, "1"}, []fit{how, fits})
		}
		if got := m.meant(0); !strings.Contains(got, want) {
			t.Errorf("most rows have %s: %q, want %q", most, got, want)
		}
	}
}
