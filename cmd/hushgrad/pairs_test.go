package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/dictionary"
)

// smallDictionary has three keys.
func smallDictionary(t *testing.T) *dictionary.Dictionary {
	t.Helper()
	d, err := dictionary.Read(strings.NewReader("apple\npear\nfig\n"), "keys.txt", 3)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Both forms list clients with and without pairs alike, in every way to write them: the number
// of reports does not depend on what a client holds.
func TestFormatsListTheSameClients(t *testing.T) {
	for name, c := range map[string]struct{ format, text string }{
		"csv":            {"csv", "a,apple,1\nb,pear,-0.5\nc\na,fig,0.25\nd,,\n"},
		"header":         {"csv", "client,key,value\na,apple,1\nb,pear,-0.5\nc,,\na,fig,0.25\nd\n"},
		"another order":  {"csv", "\ufeffKey, Value,CLIENT\napple,1,a\npear,-0.5,b\n,,c\nfig,0.25,a\nd\n"},
		"jsonl":          {"jsonl", `{"client": "a", "values": {"fig": 0.25, "apple": 1}}` + "\n\n" + `{"client": "b", "values": {"pear": -0.5}}` + "\n" + `{"client": "c", "values": {}}` + "\n" + `{"client": "d"}`},
		"jsonl, in part": {"jsonl", `{"client": "a", "values": {"fig": 0.25}}` + "\n" + `{"values": {"pear": -0.5}, "client": "b"}` + "\n" + `{"client": "c", "values": null}` + "\n" + `{"client": "d"}` + "\n" + `{"client": "a", "values": {"apple": 1}}`},
	} {
		people, err := readPairs(strings.NewReader(c.text), "file", c.format, smallDictionary(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for i, client := range people.order {
			got = append(got, fmt.Sprint(client, people.of(i, nil)))
		}
		if want := []string{"a[{0 1} {2 0.25}]", "b[{1 -0.5}]", "c[]", "d[]"}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Clients without pairs send a report in both forms.
func TestFormatsGiveTheSameNumberOfReports(t *testing.T) {
	dir := t.TempDir()
	round := writeFile(t, dir, "round.json", do(t, "round", "--mechanism", "coco", "--dim", "5", "--epsilon", "8", "--min-reports", "2", "--param", "sparsity=2"))
	for _, file := range []string{
		writeFile(t, dir, "a.csv", "a,0,1\nb,,\nc\n"),
		writeFile(t, dir, "a.jsonl", `{"client": "a", "values": {"0": 1}}`+"\n"+`{"client": "b", "values": {}}`+"\n"+`{"client": "c"}`),
	} {
		reports := file + ".reports"
		do(t, "encode", "--round", round, "--out", reports, file)
		if text := do(t, "aggregate", "--round", round, "--out", filepath.Join(dir, "out"), reports); !strings.HasPrefix(text, "3 reports under (ε=8") {
			t.Errorf("%s: %q, want 3 reports", file, text)
		}
	}
}

// Every error names the file, the line and the rule that was broken.
func TestPairErrorsNameFileAndLine(t *testing.T) {
	for name, c := range map[string]struct{ format, text, param, says string }{
		"a number":         {"csv", "a,apple,1\n\nb,pear,x\n", "value", `file: line 3: value: got "x", rule: must be a number`},
		"first line":       {"csv", "a,apple,x\nb,pear,1\n", "value", `file: line 1: value: got "x"`},
		"another header":   {"csv", "user,item,rating\nb,pear,1\n", "value", "a header must have the names client, key and value"},
		"half a header":    {"csv", "client\na,apple,1\nb,apple,2\n", "value", "file: line 3: value: got 2, rule: must be in [-1, 1]"},
		"range":            {"csv", "a,apple,1\nb,pear,-1.5\n", "value", "file: line 2: value: got -1.5, rule: must be in [-1, 1]"},
		"not a number":     {"csv", "a,apple,1\nb,pear,NaN\n", "value", "file: line 2: value: got NaN"},
		"key":              {"csv", "a,apple,1\nb,plum,1\n", "key", `file: line 2: key: got "plum", rule: must be in the dictionary, the file of --keys`},
		"no value":         {"csv", "a,apple,\n", "value", "file: line 1: value"},
		"no key":           {"csv", "a,,1\n", "key", "file: line 1: key"},
		"no client":        {"csv", "a,apple,1\n,pear,1\n", "client", "file: line 2: client"},
		"two fields":       {"csv", "a,apple\n", "csv", "file: line 1: csv: got \"2 fields\", rule: must have the fields client,key,value"},
		"a quote":          {"csv", "a,apple,1\nb,\"pear,1\n", "csv", "file: line 2: csv"},
		"quoted lines":     {"csv", "a,\"app\nle\",1\n", "key", "file: line 1: key"},
		"twice":            {"csv", "a,apple,1\nb,apple,1\nb,pear,1\na,apple,0.5\n", "key", `file: line 4: key: got "apple", rule: client "a" must have it once, and has it on line 1`},
		"nobody":           {"csv", "", "clients", "file: clients: got 0"},
		"a header alone":   {"csv", "client,key,value\n", "clients", "file: clients: got 0"},
		"half an object":   {"jsonl", "{", "jsonl", "file: line 1: jsonl"},
		"no object":        {"jsonl", `{"client": "a"}` + "\n7\n", "jsonl", "file: line 2: jsonl"},
		"two objects":      {"jsonl", `{"client": "a"} {"client": "b"}`, "jsonl", "more than one value"},
		"another field":    {"jsonl", `{"client": "a", "value": {"apple": 1}}`, "jsonl", `unknown field "value"`},
		"a text":           {"jsonl", `{"client": "a", "values": {"apple": "1"}}`, "value", `file: line 1: value: got "1", rule: the value of key "apple" must be a number`},
		"null":             {"jsonl", `{"client": "a", "values": {"apple": null}}`, "value", `the value of key "apple"`},
		"a list":           {"jsonl", `{"client": "a", "values": [1]}`, "values", "file: line 1: values"},
		"JSON key":         {"jsonl", "\n" + `{"client": "a", "values": {"plum": 1}}`, "key", "file: line 2: key"},
		"JSON range":       {"jsonl", `{"client": "a", "values": {"apple": 2}}`, "value", "file: line 1: value: got 2"},
		"JSON client":      {"jsonl", `{"values": {"apple": 1}}`, "client", "file: line 1: client"},
		"twice in one":     {"jsonl", `{"client": "a", "values": {"apple": 1, "apple": -1}}`, "key", "file: line 1: key"},
		"nobody, in lines": {"jsonl", "\n\n", "clients", "file: clients: got 0"},
	} {
		_, err := readPairs(strings.NewReader(c.text), "file", c.format, smallDictionary(t))
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != c.param || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "file: ") {
			t.Errorf("%s: error %v, want one for %s with %q", name, err, c.param, c.says)
		}
	}
}

// Clients with more pairs than a report takes in are counted in a note, or refused.
func TestMorePairsThanTheRoundTakes(t *testing.T) {
	dir := t.TempDir()
	data := writeFile(t, dir, "a.csv", "a,0,1\na,1,1\na,2,1\nb,0,1\nb,1,1\nc,0,1\nc,1,1\nc,3,1\n")
	for _, c := range []struct{ mechanism, param, name string }{
		{"coco", "sparsity=2", "sparsity"}, {"pckv-ue", "padding=2", "padding"}, {"signsketch", "sparsity=2", "sparsity"}, {"coco", "sparsity=3", ""},
	} {
		args := []string{"round", "--mechanism", c.mechanism, "--dim", "5"}
		if c.param != "" {
			args = append(args, "--param", c.param)
		}
		round := writeFile(t, dir, "round.json", do(t, args...))
		var stderr bytes.Buffer
		if code := call(t.Context(), []string{"encode", "--round", round, data}, io.Discard, &stderr); code != 0 {
			t.Fatalf("%v: %s", c, stderr.String())
		}
		note := "2 of 3 clients have more than 2 pairs, the " + c.name + " of the round"
		if got := strings.Contains(stderr.String(), note); got != (c.name != "") || !got && stderr.Len() > 0 {
			t.Errorf("%v: printed %q", c, stderr.String())
		}
		err := try(t, []string{"encode", "--round", round, "--strict", data})
		var p *fl.ParamError
		if c.name == "" && err != nil || c.name != "" && (!errors.As(err, &p) || p.Param != "pairs" || !strings.Contains(err.Error(), `a.csv: client "a"`)) {
			t.Errorf("%v: --strict: %v", c, err)
		}
	}
}

// endless gives lines of CSV, and stops the context on the way. It fails when it is read on.
type endless struct {
	stop context.CancelFunc
	left int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left--; e.left == 0 {
		e.stop()
	}
	if e.left < -1000 {
		return 0, errors.New("read on after the interrupt")
	}
	return copy(p, "a\n"), nil
}

func TestReadingEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	round := writeFile(t, dir, "round.json", do(t, "round", "--dim", "5", "--param", "sparsity=2"))
	ctx, stop := context.WithCancel(t.Context())
	std := command.Streams{In: &endless{stop, 100}, Out: io.Discard, Err: io.Discard}
	if code := command.Run(ctx, "hushgrad", dispatch, []string{"encode", "--round", round, "-"}, std); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}
