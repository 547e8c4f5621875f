package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stated runs the command.
func stated(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, failed bytes.Buffer
	code = call(t.Context(), append([]string{"account", "statement"}, args...), &out, &failed)
	return code, out.String(), failed.String()
}

// A statement names what holds, of what and against whom, for each kind of trust. It promises no record more than a client's
// report does, and no client what only a record has.
func TestAStatementSaysWhatHoldsAndWhatDoesNot(t *testing.T) {
	for name, c := range map[string]struct {
		round    string
		has, not []string
	}{
		"coco": {`"epsilon": 1, "params": {"sparsity": {"integer": 2}}`,
			[]string{"(ε, δ) = (30, 0) for one client, over the 30 rounds", "against everybody outside of the client", "against a party that sees only the shuffled reports"}, []string{"record"}},
		"gaussian-site": {`"epsilon": 0.2, "delta": 1e-6, "params": {"records": {"integer": 9000}}`,
			[]string{"for one record, over the 30 rounds", "Nobody has to be trusted", "number of these records is not hidden", "k records", "It takes no other organisation"}, []string{"shuffled", "for one client", "(6, "}},
		"gaussian-shares": {`"epsilon": 0.2, "delta": 1e-6`,
			[]string{"for one client, over the 30 rounds", "against either of the two servers", "The two servers together read every report", "two organisations"}, []string{"record", "everybody outside"}},
		"gaussian-shares, own noise": {`"epsilon": 0.2, "delta": 1e-6, "params": {"own_epsilon": {"real": 1}}`,
			[]string{"for one client, over the 30 rounds", "against everybody outside of the client, every server included", "against either of the two servers", "The smaller ε does not hold against the two servers together"}, []string{"record", "read every report.", "shuffled"}},
		"gaussian-shares, honest clients": {`"epsilon": 0.2, "delta": 1e-6, "params": {"honest_epsilon": {"real": 0.1}, "honest_reports": {"integer": 36}}`,
			[]string{"against either of the two servers, whatever it does", "if 36 or more of the counted reports of each round are of honest clients", "do not weaken the larger ε", "Nobody checks that 36 clients", "The two servers together read every report"}, []string{"record", "everybody outside", "adds the whole noise"}},
		"sumdp": {`"epsilon": 0.2, "delta": 1e-6, "params": {"range": {"real": 2}}`,
			[]string{"The shuffler has to be honest", "There is no promise against the shuffler", "counts on the reports of 40 honest ones"}, []string{"everybody outside"}},
		"none": {`"epsilon": "Infinity"`, []string{"Nothing. Whoever reads a report"}, []string{"(ε, δ)"}},
	} {
		mechanism, _, _ := strings.Cut(name, ",")
		file := filepath.Join(t.TempDir(), "round.json")
		text := `{"id": "study", "mechanism": "` + mechanism + `", "dim": 8, "scale": 1, "min_reports": 40, "public_seed": "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=", ` + c.round + `}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := stated(t, "--rounds", "30", "--delta", "1e-4", file)
		if code != 0 || !strings.HasPrefix(stdout, "# What round study promises\n") {
			t.Errorf("%s: exit %d, %s%s", name, code, stdout, stderr)
		}
		for _, want := range c.has {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: no %q in\n%s", name, want, stdout)
			}
		}
		for _, not := range c.not {
			if strings.Contains(stdout, not) {
				t.Errorf("%s: %q in\n%s", name, not, stdout)
			}
		}
		code, stdout, _ = stated(t, "--output", "json", file)
		var parsed struct {
			Round    string
			Sections []section
		}
		if err := json.Unmarshal([]byte(stdout), &parsed); code != 0 || err != nil || parsed.Round != "study" || len(parsed.Sections) != 5 {
			t.Errorf("%s: exit %d, %v, %s", mechanism, code, err, stdout)
		}
	}
	for _, args := range [][]string{{"--rounds", "0", "x"}, {"--delta", "1", "x"}, {}} {
		if code, _, _ := stated(t, args...); code != 2 {
			t.Errorf("%q: exit %d, want 2", args, code)
		}
	}
}
