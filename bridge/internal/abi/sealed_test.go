package abi

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/server/seal"
)

// shuffler is the name of the shuffler of sealed rounds.
const shuffler = "shuffler.example"

// newKey draws the key of a server.
func newKey(t *testing.T) *seal.Key {
	key, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// behind changes the description of a round so that it has a shuffler.
func behind(round string, key *seal.Key) string {
	return fmt.Sprintf(`{"shuffler": %q, "seal_key": %q, %s`, shuffler, base64.StdEncoding.EncodeToString(key.Public()), strings.TrimPrefix(round, "{"))
}

// pinning is a policy that pins a key and the shuffler.
func pinning(key *seal.Key, others string) string {
	return fmt.Sprintf(`{"policy": {%s "shuffled": {"shufflers": [%q], "seal_keys": ["%v"], "max_epsilon_local": 4, "max_epsilon": 4, "max_delta": 1e-6}}}`, others, shuffler, key.Fingerprint())
}

// unsealed opens items and returns what a client has sealed.
func unsealed(t *testing.T, key, second *seal.Key, description, items []byte) (reports [][]byte, m fl.Mechanism) {
	var r fl.Round
	if err := r.UnmarshalBinary(description); err != nil {
		t.Fatal(err)
	}
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	format, err := seal.FormatOf(r, m)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := seal.Split(items, format.Item())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range parts {
		plain, err := key.NewOpener(digest).Open(item[:format.Sealed])
		if err != nil {
			t.Fatal(err)
		}
		var share []byte
		if format.Second > 0 {
			if share, _, err = second.NewShareOpener(format, digest).Open(item); err != nil {
				t.Fatal(err)
			}
		}
		reports = append(reports, append(slices.Delete(plain, format.Report, format.Report+format.Tag), share...))
	}
	return reports, m
}

// A dense mechanism without noise shows that the server opens exactly what was encoded, in order.
func TestTheServerOpensWhatWasSealed(t *testing.T) {
	c, key, second := newCaller(t), newKey(t), newKey(t)
	pins := pinning(key, `"max_epsilon": "inf", "max_delta": 0.1, "mechanisms": ["none", "gaussian-shares"],`)
	pins = strings.Replace(pins, `"seal_keys"`, fmt.Sprintf(`"share_keys": ["%v"], "seal_keys"`, second.Fingerprint()), 1)
	for _, dense := range []string{
		`{"id": "r", "mechanism": "none", "dim": 4, "scale": 1, "epsilon": "inf", "min_reports": 3}`,
		`{"id": "r", "mechanism": "gaussian-shares", "dim": 4, "scale": 4, "epsilon": 1, "delta": 1e-6, "min_reports": 1000, "share_key": "` + base64.StdEncoding.EncodeToString(second.Public()) + `"}`,
	} {
		made, description := c.must("round.new", behind(dense, key), nil)
		opened, _ := c.must("round.open", pins, description)
		payload := append(floats(false, 1, 2, 3, 4), floats(false, 1, 0, -1, 0.5)...)
		_, items := c.must("encode", fmt.Sprintf(`{"round": %v, "type": "f8", "rows": 2}`, opened["round"]), payload)
		if size := opened["report_bytes"].(float64); opened["sealed"] != true || made["report_bytes"] != size || len(items) != 2*int(size) {
			t.Errorf("%v: %d bytes of items, want 2 of %v", made["mechanism"], len(items), size)
		}
		reports, m := unsealed(t, key, second, description, items)
		if _, two := m.(fl.SharedMechanism); two {
			if opened["guarantee"].(map[string]any)["trust"] != fl.TwoServers.String() || len(reports) != 2 {
				t.Errorf("%v: %d reports under %v", made["mechanism"], len(reports), opened["guarantee"])
			}
			want, err := m.Encode(nil, []float64{1, 2, 3, 4}, nil)
			if err != nil || len(want) != len(reports[0]) {
				t.Errorf("%v: a report of %d bytes, want %d, %v", made["mechanism"], len(reports[0]), len(want), err)
			}
			continue
		}
		for i, row := range [][]float64{{1, 2, 3, 4}, {1, 0, -1, 0.5}} {
			want, err := m.Encode(nil, row, nil)
			if err != nil || !bytes.Equal(reports[i], want) {
				t.Errorf("opened % x, want % x, %v", reports[i], want, err)
			}
		}
	}
}

// A site sends one report of the sum of its records, which come in two requests, of both number types.
func TestASiteSendsTheSumOfItsRecords(t *testing.T) {
	c, key, second := newCaller(t), newKey(t), newKey(t)
	pins := pinning(key, `"max_epsilon": 20, "max_delta": 0.1, "mechanisms": ["gaussian-shares"],`)
	pins = strings.Replace(pins, `"seal_keys"`, fmt.Sprintf(`"share_keys": ["%v"], "seal_keys"`, second.Fingerprint()), 1)
	of := func(params string) (description []byte, opened int) {
		_, description = c.must("round.new", behind(`{"id": "r", "mechanism": "gaussian-shares", "dim": 4, "scale": 4, "epsilon": 20, "delta": 0.01, "min_reports": 2, "params": `+
			params+`, "share_key": "`+base64.StdEncoding.EncodeToString(second.Public())+`"}`, key), nil)
		answer, _ := c.must("round.open", pins, description)
		return description, int(answer["round"].(float64))
	}
	described, r := of(`{"records": 1000}`)
	var items []byte
	for range 2 {
		sum, _ := c.must("records.new", fmt.Sprintf(`{"round": %d}`, r), nil)
		add := func(kind string, rows int, payload []byte) *failure {
			_, _, failed := c.ask("records.add", fmt.Sprintf(`{"records": %v, "type": %q, "rows": %d, "first": 5}`, sum["records"], kind, rows), payload)
			return failed
		}
		if failed := add("f4", 2, bytes.Repeat(floats(true, 1, -2, 3, 0.5), 2)); failed != nil {
			t.Fatal(failed)
		}
		if failed := add("f8", 200, bytes.Repeat(floats(false, 1, -2, 3, 0.5), 200)); failed != nil {
			t.Fatal(failed)
		}
		if failed := add("f8", 2, make([]byte, 63)); failed == nil || failed.Param != "rows" {
			t.Errorf("half a number: %+v", failed)
		}
		_, item := c.must("records.encode", fmt.Sprintf(`{"records": %v}`, sum["records"]), nil)
		if _, _, failed := c.ask("records.encode", fmt.Sprintf(`{"records": %v}`, sum["records"]), nil); failed == nil || failed.Param != "records" {
			t.Errorf("a second report: %+v", failed)
		}
		if failed := add("f8", 999, make([]byte, 999*32)); failed == nil || failed.Param != "records" || !strings.Contains(failed.Message, "rows[803]") {
			t.Errorf("too many records: %+v", failed)
		}
		items = append(items, item...)
	}
	reports, m := unsealed(t, key, second, described, items)
	a := m.NewAggregator()
	if err := fl.AddBatch(m, a, reports); err != nil {
		t.Fatal(err)
	}
	e, err := a.Estimate()
	if err != nil || e.Records != 404 || e.Reports != 2 {
		t.Fatalf("%+v, %v, want 404 records in 2 reports", e, err)
	}
	for j, want := range []float64{1, -2, 3, 0.5} { // a tolerance of 14 standard errors
		if got := e.Mean().Value[j]; !(math.Abs(got-want) < 0.1) || e.Mean().StdErr[j] > 0.008 {
			t.Errorf("coordinate %d: %g ± %g, want %g", j, got, e.Mean().StdErr[j], want)
		}
	}
	_, clients := of(`{}`)
	if _, _, failed := c.ask("records.new", fmt.Sprintf(`{"round": %d}`, clients), nil); failed == nil || failed.Param != "records" {
		t.Errorf("a sum in a round about clients: %+v", failed)
	}
	unchecked, _ := c.must("round.open", `{"policy": null}`, described)
	if _, _, failed := c.ask("records.new", fmt.Sprintf(`{"round": %v}`, unchecked["round"]), nil); failed == nil || failed.Kind != KindPolicy {
		t.Errorf("a sum without a policy: %+v", failed)
	}
	_, ternary := c.must("round.new", small, nil)
	if _, _, failed := c.ask("records.new", fmt.Sprintf(`{"round": %d}`, c.open(ternary)), nil); failed == nil || failed.Param != "mechanism" {
		t.Errorf("a sum of ternary reports: %+v", failed)
	}
}

// The one who carries items learns nothing from them, and counts none.
func TestItemsAreNotReports(t *testing.T) {
	c, key := newCaller(t), newKey(t)
	made, description := c.must("round.new", behind(small, key), nil)
	r := c.open(description)
	row := floats(true, 1, 2, 3, 4)
	encodeOne := func() []byte {
		_, item := c.must("encode", fmt.Sprintf(`{"round": %d, "type": "f4", "rows": 1}`, r), row)
		return item
	}
	first, second := encodeOne(), encodeOne()
	if bytes.Equal(first, second) {
		t.Error("two items are the same bytes")
	}
	answer, _ := c.must("aggregator", fmt.Sprintf(`{"round": %v}`, made["round"]), nil)
	if _, _, failed := c.ask("add", fmt.Sprintf(`{"aggregator": %v}`, answer["aggregator"]), bytes.Repeat(first, 5)); failed == nil || failed.Param != "shuffler" {
		t.Errorf("sealed items are counted: %+v", failed)
	}
}

func TestRoundsThatCannotBeSealedAreRefused(t *testing.T) {
	c, key := newCaller(t), newKey(t)
	for param, round := range map[string]string{
		"mechanism": behind(`{"id": "r", "mechanism": "sumdp", "dim": 4, "scale": 1, "epsilon": 1, "delta": 1e-6, "min_reports": 40, "params": {"range": 0.8, "levels": 1}}`, key),
		"seal_key":  fmt.Sprintf(`{"shuffler": %q, "seal_key": "AAEC", %s`, shuffler, small[1:]),
	} {
		if _, _, failed := c.ask("round.new", round, nil); failed == nil || failed.Param != param {
			t.Errorf("%s: %+v, want an error for %s", round, failed, param)
		}
	}
	shared := fl.Round{
		ID: "r", Mechanism: hdsum.SharesName, Dim: 4, Scale: 1, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne, MinReports: 100,
		PublicSeed: fl.NewPublicSeed(),
	}
	tokens := shared
	tokens.Mechanism, tokens.Delta, tokens.Params, tokens.IssuerKey = "coco", 0, fl.Params{"sparsity": fl.Int(2)}, []byte("key")
	for param, r := range map[string]fl.Round{"shuffler": shared, "issuer_key": tokens} {
		complete, _, err := fl.Complete(r)
		if err != nil {
			t.Fatal(err)
		}
		description, err := complete.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		_, _, failed := c.ask("round.open", `{"policy": {"max_epsilon": 4, "max_delta": 0.1, "mechanisms": ["coco", "gaussian-shares"]}}`, description)
		if failed == nil || failed.Kind != KindPolicy || failed.Param != param {
			t.Errorf("%s: %+v, want a refusal for %s", r.Mechanism, failed, param)
		}
	}
}

func TestThePinsOfAPolicyDecide(t *testing.T) {
	c, key, other := newCaller(t), newKey(t), newKey(t)
	_, description := c.must("round.new", behind(strings.Replace(small, `"min_reports": 3`, `"min_reports": 10000`, 1), key), nil)
	for name, q := range map[string]struct{ policy, param string }{
		"pinned":            {pinning(key, ""), ""},
		"another key":       {pinning(other, ""), "seal_key"},
		"another shuffler":  {strings.Replace(pinning(key, ""), shuffler, "other.example", 1), "shuffler"},
		"less locally":      {strings.Replace(pinning(key, ""), `"max_epsilon_local": 4`, `"max_epsilon_local": 3.9`, 1), "epsilon"},
		"less centrally":    {strings.Replace(pinning(key, ""), `"max_epsilon": 4`, `"max_epsilon": 0.01`, 1), "epsilon"},
		"no key at all":     {strings.Replace(pinning(key, ""), fmt.Sprint(key.Fingerprint()), "abc", 1), "seal_keys[0]"},
		"enough by itself":  {`{"policy": {"max_epsilon": 4}}`, ""},
		"no policy, it has": {`{"policy": {"max_epsilon": 3.9}}`, "epsilon"},
	} {
		answer, _, failed := c.ask("round.open", q.policy, description)
		if q.param != "" || failed != nil {
			if failed == nil || failed.Param != q.param {
				t.Errorf("%s: %+v, want an error for %q", name, failed, q.param)
			}
			continue
		}
		central, pinned := answer["central"].(map[string]any)
		if pinned != (name == "pinned") {
			t.Errorf("%s: central guarantee %v", name, central)
		}
		if pinned && !(central["epsilon"].(float64) < 1 && central["delta"] == 1e-6 && central["trust"] == "shuffle") {
			t.Errorf("%s: central guarantee %v of an ε of 4 and 10000 reports", name, central)
		}
	}
}

func TestTheCentralBudgetIsChargedWithWhatShufflingPromises(t *testing.T) {
	c, key := newCaller(t), newKey(t)
	_, description := c.must("round.new", behind(strings.Replace(small, `"min_reports": 3`, `"min_reports": 10000`, 1), key), nil)
	pinned, _ := c.must("round.open", pinning(key, ""), description)
	answer, _ := c.must("ledger", fmt.Sprintf(`{"path": %q}`, filepath.Join(t.TempDir(), "ledger")), nil)
	l := answer["ledger"]
	limit := func(central bool, epsilon float64) {
		c.must("budget", fmt.Sprintf(`{"ledger": %v, "purpose": "p", "central": %t, "epsilon": %g, "delta": 1e-5}`, l, central, epsilon), nil)
	}
	reserve := fmt.Sprintf(`{"ledger": %v, "purpose": "p", "round": %v}`, l, pinned["round"])
	limit(false, 10)
	limit(true, 0.01)
	if _, _, failed := c.ask("reserve", reserve, nil); failed == nil || failed.Kind != KindBudget {
		t.Errorf("beyond the central budget: %+v", failed)
	}
	limit(true, 1)
	c.must("reserve", reserve, nil)
	local, _ := c.must("spent", fmt.Sprintf(`{"ledger": %v, "purpose": "p"}`, l), nil)
	central, _ := c.must("spent", fmt.Sprintf(`{"ledger": %v, "purpose": "p", "central": true}`, l), nil)
	promised := pinned["central"].(map[string]any)["epsilon"].(float64)
	alone, spent := local["epsilon"].(float64), central["epsilon"].(float64) // both at a larger δ
	if !(alone <= 4 && alone > 3.9 && spent <= promised && spent > 0.9*promised && promised < 1) {
		t.Errorf("spent %v locally and %v centrally, want a little less than 4 and %v", alone, spent, promised)
	}
}

// A client takes the weakest guarantee of a menu that its policy allows, and its ledger pays that.
func TestAMenuIsTakenAsThePolicyAllows(t *testing.T) {
	c := newCaller(t)
	_, description := c.must("round.new", `{"id": "r", "mechanism": "tiers", "dim": 4, "scale": 0.5, "epsilon": 8, "min_reports": 3, "params": {"base": "coco", "menu": "0.5,2,8", "sparsity": 2}}`, nil)
	for most, want := range map[string]struct {
		tier    byte
		epsilon float64
	}{"0.5": {0, 0.5}, "7": {1, 2}, "8": {2, 8}, `"inf"`: {2, 8}} {
		answer, _ := c.must("round.open", fmt.Sprintf(`{"policy": {"max_epsilon": %s}}`, most), description)
		_, report := c.must("encode", fmt.Sprintf(`{"round": %v, "type": "f4", "rows": 1}`, answer["round"]), floats(true, 1, 2, 3, 4)) // its length, then its tier
		if got := answer["guarantee"].(map[string]any)["epsilon"]; got != want.epsilon || report[1] != want.tier {
			t.Errorf("at most %s: took %v and tier %d, want %v", most, got, report[1], want)
		}
	}
}
