package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/wrap"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// keyValueRound writes a round of ε = 1 and returns its file.
func keyValueRound(t *testing.T, dir, id string) string {
	t.Helper()
	return writeFile(t, dir, id+".json", do(t, "round", "--id", id, "--dim", "4", "--epsilon", "1", "--min-reports", "1", "--param", "sparsity=2"))
}

// The cost of each round is in the ledger before its reports are, and what its budget does not
// allow is not encoded.
func TestEncodeKeepsALedger(t *testing.T) {
	dir := t.TempDir()
	data := writeFile(t, dir, "c.csv", "a,0,1\nb,1,0.5\n")
	kept := filepath.Join(dir, "kept.ledger")
	out := filepath.Join(dir, "r.reports")
	encode := func(round string, flags ...string) error {
		return try(t, append(append([]string{"encode", "--round", round, "--ledger", kept, "--out", out}, flags...), data))
	}
	first, second, third := keyValueRound(t, dir, "r1"), keyValueRound(t, dir, "r2"), keyValueRound(t, dir, "r3")
	var p *fl.ParamError
	if err := encode(first); !errors.As(err, &p) || p.Param != "--ledger" {
		t.Errorf("a new ledger without a budget: %v", err)
	}
	if err := encode(first, "--budget", "2"); err != nil {
		t.Fatal(err)
	}
	if err := encode(second, "--budget", "9"); !errors.As(err, &p) || p.Param != "--budget" {
		t.Errorf("another budget: %v", err)
	}
	if err := encode(second); err != nil {
		t.Fatal(err)
	}
	if err := encode(second); !errors.Is(err, ledger.ErrDuplicate) {
		t.Errorf("a round for the second time: %v", err)
	}
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	if err := encode(third); !errors.Is(err, ledger.ErrBudget) {
		t.Errorf("beyond the budget: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("reports that were refused are in a file")
	}
	if err := encode(third, "--purpose", "other", "--budget", "0.5"); !errors.Is(err, ledger.ErrBudget) {
		t.Errorf("a purpose with a budget below one report: %v", err)
	}
	var r ledger.Exported
	if err := json.Unmarshal([]byte(do(t, "ledger", "show", "-o", "json", kept)), &r); err != nil {
		t.Fatal(err)
	}
	got := r.Purposes["pairs"]
	if len(got.Entries) != 2 || got.Spent.Epsilon != 2 || got.Budget.Epsilon != 2 || got.Entries[1].RoundID != "r2" || got.Entries[1].State != "spent" || len(r.Purposes["other"].Entries) != 0 {
		t.Errorf("%+v", r)
	}
}

// A folder that is restored brings an older ledger back. With a counter in another folder encode refuses
// it, says what to do, and makes no report.
func TestEncodeRefusesARestoredLedger(t *testing.T) {
	dir := t.TempDir()
	data := writeFile(t, dir, "c.csv", "a,0,1\nb,1,0.5\n")
	folder, counter, out := filepath.Join(dir, "kept"), filepath.Join(dir, "counter"), filepath.Join(dir, "r.reports")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(folder, "pairs.ledger")
	encode := func(id string, flags ...string) error {
		return try(t, append(append([]string{"encode", "--round", keyValueRound(t, dir, id), "--ledger", kept, "--out", out}, flags...), data))
	}
	var p *fl.ParamError
	if err := encode("r1", "--budget", "9", "--counter", filepath.Join(folder, "counter")); !errors.As(err, &p) || p.Param != "--counter" || !strings.Contains(p.Rule, "another directory") {
		t.Errorf("a counter beside the ledger: %v", err)
	}
	if err := encode("r1", "--budget", "9", "--counter", counter); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(dir, "backup")
	if err := os.CopyFS(backup, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := encode("r2", "--counter", counter); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(folder), os.CopyFS(folder, os.DirFS(backup)), os.Remove(out)); err != nil {
		t.Fatal(err)
	}
	err := encode("r2", "--counter", counter)
	if !errors.Is(err, ledger.ErrReplaced) || !strings.Contains(err.Error(), "put the newest copy of the ledger back") {
		t.Errorf("a restored folder: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("reports that were refused are in a file")
	}
	if err := os.Remove(counter); err != nil {
		t.Fatal(err)
	}
	if err := encode("r3", "--counter", counter); !errors.As(err, &p) || p.Param != "--counter" || !strings.Contains(err.Error(), "--budget must be given for a new one") {
		t.Errorf("a counter that is gone: %v", err)
	}
	if err := encode("r3", "--counter", counter, "--budget", "9"); err != nil {
		t.Errorf("a new counter: %v", err)
	}
}

// A client's own ledger pays for the report that goes to a server, and for one only.
func TestEncodeToAServerUsesTheClientsLedger(t *testing.T) {
	clients, operator := parts(t, run(t))
	dir := t.TempDir()
	do(t, "round", "--server", operator, "--id", "r", "--dim", "4", "--epsilon", "1", "--min-reports", "1", "--param", "sparsity=2")
	kept := filepath.Join(dir, "kept.ledger")
	one, two := writeFile(t, dir, "one.csv", "a,0,1\n"), writeFile(t, dir, "two.csv", "a,0,1\nb,0,1\n")
	submit := func(file string) error {
		return try(t, []string{"encode", "--server", clients, "--round", "r", "--max-epsilon", "1", "--ledger", kept, "--budget", "2", file})
	}
	var p *fl.ParamError
	if err := submit(two); !errors.As(err, &p) || p.Param != "clients" {
		t.Errorf("two clients: %v", err)
	}
	if err := submit(one); err != nil {
		t.Fatal(err)
	}
	if err := submit(one); !errors.Is(err, ledger.ErrDuplicate) {
		t.Errorf("a second report of one client: %v", err)
	}
	if text := do(t, "ledger", "show", kept); !strings.Contains(text, "acknowledged") || !strings.Contains(text, "spent     ε = 1 by all") {
		t.Errorf("the ledger: %s", text)
	}
}

// written makes a ledger of three entries, the last one central and without an end, and one released.
func written(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "made.ledger")
	l, err := ledger.Open(file, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	charge := func(n byte, epsilon float64) ledger.Charge {
		return ledger.Charge{
			Purpose: "typing", Round: [32]byte{n}, RoundID: "r" + string('0'+n), Mechanism: "coco",
			Guarantee: fl.Guarantee{Trust: fl.Local, Epsilon: epsilon, Relation: fl.ReplaceOne},
		}
	}
	err = l.SetBudget("typing", ledger.Budget{Epsilon: 4, Relation: fl.ReplaceOne})
	err = errors.Join(err, l.SetCentralBudget("typing", ledger.Budget{Epsilon: 4, Delta: 1e-6, Relation: fl.ReplaceOne}))
	id, reserved := l.Reserve(t.Context(), charge(1, 1))
	err = errors.Join(err, reserved, l.Spend(id), l.Receipt(id, "accepted 1"))
	if id, reserved = l.Reserve(t.Context(), charge(2, 2)); reserved == nil {
		err = errors.Join(err, l.Release(id))
	}
	last := charge(3, 1)
	last.Central = fl.Guarantee{Trust: fl.Shuffle, Epsilon: 0.25, Delta: 1e-7, Relation: fl.ReplaceOne}
	_, reserved = l.Reserve(t.Context(), last)
	if err = errors.Join(err, reserved, l.Close()); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLedgerShowsSumsAndAgainstWhom(t *testing.T) {
	text := do(t, "ledger", "show", written(t, t.TempDir()))
	for _, part := range []string{
		"purpose   typing\nbudget    ε = 4, δ = 0, replace-one\nspent     ε = 2 by all that counts, composed\n" + wrap.Text(againstAll, "          ") + "budget",
		"budget    ε = 4, δ = 1e-06, replace-one\nspent     ε = 1.25 by all that counts, composed\n" + wrap.Text(againstCentral, "          ") + "ENTRY", "\n2      r2     coco       local  2  0  -          released",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// An ε of two servers is no bound against everybody, in no sum and in no entry.
func TestLedgerSaysWhatTwoServersSee(t *testing.T) {
	file := filepath.Join(t.TempDir(), "l")
	l, err := ledger.Open(file, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []func(string, ledger.Budget) error{l.SetBudget, l.SetCentralBudget} {
		err = errors.Join(err, set("typing", ledger.Budget{Epsilon: 4, Delta: 1e-6, Relation: fl.ReplaceOne}))
	}
	if err != nil {
		t.Fatal(err)
	}
	halves := ledger.Charge{Purpose: "typing", Round: [32]byte{1}, RoundID: "r1", Mechanism: "gaussian-shares"}
	halves.Guarantee = fl.Guarantee{Trust: fl.TwoServers, Epsilon: 1, Delta: 1e-7, Relation: fl.ReplaceOne}
	halves.Central = halves.Guarantee
	_, err = l.Reserve(t.Context(), halves)
	if err = errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"show", file}, {"explain", file}, {"explain", "--entry", "1", file}} {
		text := strings.Join(strings.Fields(do(t, append([]string{"ledger"}, args...)...)), " ")
		if !strings.Contains(text, "is one of two servers, or sees what they release") || strings.Contains(text, againstAll) || strings.Contains(text, "links all reports") {
			t.Errorf("%v: %s", args, text)
		}
	}
}

// The words have the numbers of the composition, rounded up, and of one entry.
func TestLedgerExplains(t *testing.T) {
	file := written(t, t.TempDir())
	flat := func(args ...string) string {
		return strings.Join(strings.Fields(do(t, append(append([]string{"ledger", "explain"}, args...), file)...)), " ")
	}
	if e2 := math.Exp(2); e2 > 7.39 || e2 < 7.38 {
		t.Fatal(e2)
	}
	for _, part := range []string{
		"purpose typing: 2 entries count, 1 released", "at most 7.39 times as likely, or as unlikely, when the client's data are exchanged for any others (ε = 2).",
		"only whole rounds learns of a client at most this: whatever is seen becomes at most 3.5 times", "δ = 1e-06", "What is not: That the client took part",
	} {
		if text := flat(); !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
	text := flat("--entry", "3")
	for _, part := range []string{"entry 3, round r3 of coco, purpose typing. The report may have been made", "the server included, learns", "2.72 times", "sees only the shuffled reports", "1.29 times"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
	var p *fl.ParamError
	if err := try(t, []string{"ledger", "explain", "--entry", "4", file}); !errors.As(err, &p) || p.Param != "--entry" {
		t.Errorf("an entry that is not there: %v", err)
	}
	var all []explained
	if err := json.Unmarshal([]byte(do(t, "ledger", "explain", "-o", "json", file)), &all); err != nil || len(all) != 1 || len(all[0].Promises) != 3 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestLedgerExports(t *testing.T) {
	file := written(t, t.TempDir())
	rows, err := csv.NewReader(strings.NewReader(do(t, "ledger", "export", "--format", "csv", file))).ReadAll()
	if err != nil || len(rows) != 4 || rows[3][0] != "typing" || rows[3][7] != "1" || rows[3][11] != "0.25" || rows[2][2] != "released" || rows[1][18] != "accepted 1" {
		t.Errorf("%q, %v", rows, err)
	}
	var own bytes.Buffer
	l, err := ledger.Open(file, ledger.Options{})
	if err == nil {
		err = errors.Join(l.Export(&own), l.Close())
	}
	if text := do(t, "ledger", "export", file); err != nil || text != own.String() {
		t.Errorf("%v: %s", err, text)
	}
}

// A ledger that was damaged, replaced or set back is found out, as far as there is something to
// compare it with.
func TestLedgerVerify(t *testing.T) {
	dir := t.TempDir()
	file := written(t, dir)
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text := do(t, "ledger", "verify", file); text != "sound     3 entries, each with its checksum\nspent     ε = 2 of 4 for typing\n" {
		t.Errorf("printed %q", text)
	}
	counter := filepath.Join(t.TempDir(), "counter")
	l, err := ledger.Open(file, ledger.Options{Counter: counter})
	if err == nil {
		_, err = l.Reserve(t.Context(), ledger.Charge{Purpose: "typing", Round: [32]byte{9}, RoundID: "r9", Mechanism: "coco", Guarantee: fl.Guarantee{Trust: fl.Local, Epsilon: 1, Relation: fl.ReplaceOne}})
		err = errors.Join(err, l.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	export := writeFile(t, dir, "export.json", do(t, "ledger", "export", file))
	do(t, "ledger", "verify", "--export", export, "--counter", counter, file)
	if err := os.WriteFile(file, old, 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, "ledger", "verify", file) // an older copy is sound
	for _, flags := range [][]string{{"--export", export}, {"--counter", counter}} {
		if err := try(t, append(append([]string{"ledger", "verify"}, flags...), file)); !errors.Is(err, ledger.ErrReplaced) {
			t.Errorf("an older copy with %v: %v", flags, err)
		} else if flags[0] == "--export" && !strings.Contains(err.Error(), "entry 4 of purpose \"typing\" is in") {
			t.Errorf("an older copy with %v: %v does not name the entry", flags, err)
		}
	}
	for what, c := range map[string]struct{ old, changed string }{
		"an entry of another ε":          {`"epsilon": 2,`, `"epsilon": 3,`},
		"an entry of another central ε":  {`"epsilon": 0.25,`, `"epsilon": 0.2,`},
		"an entry of another round":      {`"digest": "01`, `"digest": "11`},
		"an entry that was spent":        {`"state": "reserved"`, `"state": "spent"`},
		"an entry that was released":     {`"state": "acknowledged"`, `"state": "released"`},
		"an entry that was not released": {`"state": "released"`, `"state": "spent"`},
	} {
		text := do(t, "ledger", "export", file)
		other := writeFile(t, dir, "other.json", strings.Replace(text, c.old, c.changed, -1))
		if err := try(t, []string{"ledger", "verify", "--export", other, file}); !strings.Contains(text, c.old) || !errors.Is(err, ledger.ErrReplaced) {
			t.Errorf("%s: %v", what, err)
		}
	}
	changed := bytes.ReplaceAll(old, []byte(`"round_id":"r1"`), []byte(`"round_id":"r0"`))
	if err := os.WriteFile(file, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := try(t, []string{"ledger", "verify", file}); !errors.Is(err, ledger.ErrDamaged) {
		t.Errorf("a changed record: %v", err)
	}
	var p *fl.ParamError
	for _, wrong := range []string{export, filepath.Join(dir, "absent"), dir} {
		if err := try(t, []string{"ledger", "verify", wrong}); !errors.As(err, &p) || p.Param != "FILE" {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
