package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/seal"
)

// realNumbers is laplace with a guarantee for real numbers only.
type realNumbers struct {
	fl.Mechanism
	fl.Amplifier
}

const realNumbersName = "test-real-numbers"

func init() { fl.Register(realNumbersName, realNumbers{}) }

func (realNumbers) Open(r fl.Round) (fl.Mechanism, error) {
	r.Mechanism = "laplace"
	m, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	return realNumbers{m, m.(fl.Amplifier)}, nil
}

func (m realNumbers) Guarantee() fl.Guarantee {
	g := m.Mechanism.Guarantee()
	g.RealNumbers = true
	return g
}

// policyRounds are rounds of all kinds of trust, in files.
func policyRounds(t *testing.T) (files map[string]string, sealKey, shareKey string) {
	t.Helper()
	key, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	second, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	base := fl.Round{ID: "r", Dim: 50, Scale: 1, Epsilon: 2, MinReports: 1000, PublicSeed: [32]byte{1}}
	behind := func(r fl.Round) fl.Round { r.Shuffler, r.SealKey = "shuffler.example", key.Public(); return r }
	with := func(mechanism string, change func(r *fl.Round)) fl.Round {
		r := base
		r.Mechanism = mechanism
		change(&r)
		return r
	}
	central := func(r *fl.Round) { r.Delta = 1e-6 }
	local := with("coco", func(r *fl.Round) { r.Params = fl.Params{"sparsity": fl.Int(3)} })
	files = map[string]string{}
	for name, r := range map[string]fl.Round{
		"local": local, "shuffled": behind(local), "sum": with("sumdp", central), "shares": behind(with("gaussian-shares", func(r *fl.Round) { central(r); r.ShareKey = second.Public() })), "bare": behind(with("gaussian-shares", central)),
		"zero-out": with("sumdp", func(r *fl.Round) { central(r); r.Relation = fl.ZeroOut }), "real": with(realNumbersName, func(*fl.Round) {}),
		"none":     with("none", func(r *fl.Round) { r.Epsilon = math.Inf(1) }),
		"site":     with("gaussian-site", func(r *fl.Round) { central(r); r.Params = fl.Params{fl.ParamRecords: fl.Int(9000)} }),
		"features": with("coco", func(r *fl.Round) { r.Params, r.Features = local.Params, "edges:ab" }),
	} {
		complete, _, err := fl.Complete(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var text bytes.Buffer
		if err := writeRound(&text, complete); err != nil {
			t.Fatal(err)
		}
		files[name] = filepath.Join(t.TempDir(), name+".json")
		if err := os.WriteFile(files[name], text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files, key.Fingerprint().String(), second.Fingerprint().String()
}

// A client learns from the description alone whether a round meets its policy, and what falls short.
func TestVerifyAnswersShouldIJoin(t *testing.T) {
	files, sealKey, shareKey := policyRounds(t)
	pins := " --shuffler shuffler.example --seal-key " + sealKey + " --max-central-epsilon "
	both := " --share-key " + shareKey + pins
	for _, c := range []struct{ round, flags, refusal string }{
		{"local", "--max-epsilon 4 --min-reports 1000", ""},
		{"local", "--max-epsilon 1.9", "epsilon: got 2, rule: must be at most 1.9"},
		{"local", "--max-epsilon 2 --min-reports 1001", "min_reports: got 1000, rule: must be at least 1001"},
		{"local", "--max-epsilon 2 --max-dim 49", "dim: got 50, rule: must be at most 49"},
		{"local", "--max-epsilon 2 --mechanism collision,signsketch", `mechanism: got "coco", rule: must be one of collision, signsketch`},
		{"local", "--max-epsilon 2 --mechanism collision,coco", ""},
		{"local", "--max-epsilon 2 --features edges:ab", `features: got "", rule: must be edges:ab`},
		{"features", "--max-epsilon 2 --features edges:ab", ""},
		{"local", "--max-epsilon 4" + pins + "0.5", `shuffler: got "", rule: must be one that the policy pins: "shuffler.example"`},
		{"shuffled", "--max-epsilon 4" + pins + "0.5", ""},
		{"shuffled", "--max-epsilon 4" + pins + "0.01", "central guarantee: epsilon: got 0."},
		{"shuffled", "--max-epsilon 1" + pins + "0.5", "local guarantee: epsilon: got 2, rule: must be at most 1"},
		{"shuffled", "--max-epsilon 4" + strings.Replace(pins, "shuffler.ex", "other.ex", 1) + "0.5", `shuffler: got "shuffler.example", rule: must be one that the policy pins: "other.example"`},
		{"shuffled", "--max-epsilon 4" + strings.Replace(pins, sealKey, strings.Repeat("ab", 32), 1) + "0.5", `seal_key: got "` + sealKey},
		{"sum", "--max-epsilon 2 --max-delta 1e-6", "trust: got shuffle, rule: must hold without trust in a shuffler"},
		{"sum", "--max-epsilon 2 --max-delta 1e-6 --trust-shuffler", ""},
		{"sum", "--max-epsilon 2 --max-delta 1e-7 --trust-shuffler", "delta: got 1e-06, rule: must be at most 1e-07"},
		{"zero-out", "--max-epsilon 2 --max-delta 1e-6 --trust-shuffler", "relation: got zero-out, rule: must be replace-one"},
		{"zero-out", "--max-epsilon 2 --max-delta 1e-6 --trust-shuffler --relation zero-out", ""},
		{"shares", "--max-epsilon 2 --max-delta 1e-6" + both + "2", `mechanism: got "gaussian-shares", rule: must be named among the policy's mechanisms`},
		{"shares", "--max-epsilon 2 --max-delta 1e-6 --mechanism gaussian-shares" + both + "2", ""},
		{"shares", "--max-epsilon 2 --max-delta 1e-6 --mechanism gaussian-shares" + pins + "2", `share_key: got "` + shareKey + `", rule: must have a fingerprint that the policy pins`},
		{"bare", "--max-epsilon 2 --max-delta 1e-6 --mechanism gaussian-shares" + both + "2", `share_key: got "nothing", rule: must be there`},
		{"shares", "--max-epsilon 2 --max-delta 1e-6 --mechanism gaussian-shares", `shuffler: got "shuffler.example", rule: must be one that the policy pins, and it pins none: name the shuffler`},
		{"real", "--max-epsilon 2", "real_numbers: got true, rule: must hold for the floating-point code, too"},
		{"real", "--max-epsilon 2 --accept-real-numbers", ""},
		{"site", "--max-epsilon 2 --max-delta 1e-6", ""},
		{"none", "--max-epsilon 20", "trust: got none, rule: must be private: epsilon at most 20"},
		{"none", "--max-epsilon Inf", ""},
	} {
		line := append(append([]string{"verify"}, strings.Fields(c.flags)...), files[c.round])
		var stdout, stderr bytes.Buffer
		code := call(t.Context(), line, &stdout, &stderr)
		joined, refused := "join round r: a report promises ", "hushgrad verify: do not join round r: "+c.refusal
		if c.refusal == "" && (code != 0 || !strings.HasPrefix(stdout.String(), joined) || stderr.Len() > 0) ||
			c.refusal != "" && (code != 1 || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), refused)) || strings.Count(stdout.String()+stderr.String(), "\n") != 1 {
			t.Errorf("%s %s: exit code %d, printed %q and %q, want %q", c.round, c.flags, code, stdout.String(), stderr.String(), c.refusal)
		}
		if site := c.round == "site"; strings.Contains(stdout.String(), ", for one record where it is a sum of records") != site {
			t.Errorf("%s: %s", c.round, stdout.String())
		}
		stdout.Reset()
		var said joining
		again := call(t.Context(), append(line, "-o", "json"), &stdout, &stderr)
		if err := json.Unmarshal(stdout.Bytes(), &said); err != nil || again != code || said.Join != (code == 0) || said.Round != "r" || said.Records != (c.round == "site") || !strings.HasPrefix(said.Reason, c.refusal) ||
			(said.Guarantee != nil) != said.Join || said.Join && (said.Central != nil) != strings.Contains(c.flags, " --shuffler ") {
			t.Errorf("%s %s: exit code %d, %+v, %v", c.round, c.flags, again, said, err)
		}
	}
}

// What is no policy is a wrong call.
func TestVerifyRefusesHalfAPolicy(t *testing.T) {
	files, fingerprint, _ := policyRounds(t)
	for flags, param := range map[string]string{
		"--min-reports 5": "--max-epsilon", "--max-epsilon 0": "--max-epsilon", "--max-epsilon NaN": "--max-epsilon", "--max-epsilon 1 --max-delta 1": "--max-delta",
		"--max-epsilon 1 --min-reports -1": "--min-reports", "--max-epsilon 1 --max-dim 0": "--max-dim", "--max-epsilon 1 --relation none": "--relation",
		"--max-epsilon 1 --mechanism cocoa": "--mechanism", "--max-epsilon 1 --shuffler s.example": "--seal-key", "--max-epsilon 1 --seal-key " + fingerprint: "--seal-key",
		"--max-epsilon 1 --time 3s": "--time", "--max-epsilon 1 --method exact": "--method",
	} {
		var stderr bytes.Buffer
		if code := call(t.Context(), append(append([]string{"verify"}, strings.Fields(flags)...), files["local"]), &bytes.Buffer{}, &stderr); code != 2 || !strings.HasPrefix(stderr.String(), "hushgrad verify: "+param+": ") {
			t.Errorf("%s: exit code %d, printed %q, want an error about %s", flags, code, stderr.String(), param)
		}
	}
}

// Every field of a policy has a flag.
func TestEveryFieldOfAPolicyHasAFlag(t *testing.T) {
	flags := map[string]string{
		"MaxEpsilon": "max-epsilon", "MaxDelta": "max-delta", "Shuffled": "shuffler", "MinReports": "min-reports", "MaxDim": "max-dim",
		"TrustShuffler": "trust-shuffler", "Relation": "relation", "AcceptRealNumbers": "accept-real-numbers",
		"Mechanisms": "mechanism", "Features": "features",
	}
	f := flag.NewFlagSet("verify", flag.ContinueOnError)
	new(policyFlags).bind(f)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[fl.Policy]()) {
		if f.Lookup(flags[field.Name]) == nil {
			t.Errorf("fl.Policy.%s has no flag of hushgrad verify", field.Name)
		}
	}
}
