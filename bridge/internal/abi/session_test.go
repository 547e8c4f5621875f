package abi

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// caller calls operations of a session.
type caller struct {
	testing.TB
	*Session
}

func newCaller(t testing.TB) caller {
	s := NewSession()
	t.Cleanup(s.Close)
	return caller{t, s}
}

// ask calls an operation and returns its answer, payload and error.
func (c caller) ask(op, args string, payload []byte) (map[string]any, []byte, *failure) {
	c.Helper()
	header, out := c.Call(context.Background(), fmt.Appendf(nil, `{"op": %q, "args": %s}`, op, args), payload)
	var r struct {
		Answer map[string]any
		Error  *failure
	}
	if err := json.Unmarshal(header, &r); err != nil {
		c.Fatalf("%s answers %s: %v", op, header, err)
	}
	return r.Answer, out, r.Error
}

// must calls an operation that has no error.
func (c caller) must(op, args string, payload []byte) (map[string]any, []byte) {
	c.Helper()
	answer, out, failed := c.ask(op, args, payload)
	if failed != nil {
		c.Fatalf("%s %s: %s", op, args, failed.Message)
	}
	return answer, out
}

// open opens a round for encoding and returns its handle.
func (c caller) open(description []byte) int {
	c.Helper()
	answer, _ := c.must("round.open", `{"policy": {"max_epsilon": "inf", "max_delta": 0.1, "trust_shuffler": true, "accept_real_numbers": true}}`, description)
	return int(answer["round"].(float64))
}

// small is a round of four coordinates.
const small = `{"id": "r", "mechanism": "coco", "dim": 4, "scale": 0.5, "epsilon": 4, "min_reports": 3, "params": {"sparsity": 2}}`

// floats are the little-endian bytes of numbers.
func floats(type32 bool, numbers ...float64) (b []byte) {
	for _, x := range numbers {
		if type32 {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
		} else {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	return b
}

func TestReportsOfEveryMechanismGiveAnEstimate(t *testing.T) {
	for _, round := range []string{
		small, strings.Replace(small, "coco", "auto", 1),
		`{"id": "r", "mechanism": "none", "dim": 4, "scale": 1, "epsilon": "inf", "min_reports": 3}`,
		`{"id": "r", "mechanism": "gaussian", "dim": 4, "scale": 1, "epsilon": 1, "delta": 1e-6, "min_reports": 3}`,
		`{"id": "r", "mechanism": "sumdp", "dim": 4, "scale": 1, "epsilon": 1, "delta": 1e-6, "min_reports": 40, "params": {"range": 0.8, "levels": 1}}`,
	} {
		c := newCaller(t)
		made, description := c.must("round.new", round, nil)
		r := c.open(description)
		rows := 50
		for _, type32 := range []bool{true, false} {
			name, payload := "f8", []byte(nil)
			if type32 {
				name = "f4"
			}
			for range rows {
				payload = append(payload, floats(type32, 0.5, -0.25, 0, 1)...)
			}
			_, reports := c.must("encode", fmt.Sprintf(`{"round": %d, "type": %q, "rows": %d}`, r, name, rows), payload)
			answer, _ := c.must("aggregator", fmt.Sprintf(`{"round": %v}`, made["round"]), nil)
			a := fmt.Sprintf(`{"aggregator": %v}`, answer["aggregator"])
			if counted, _ := c.must("add", a, reports); counted["reports"] != float64(rows) {
				t.Errorf("%v: counted %v reports, want %d", made["mechanism"], counted["reports"], rows)
			}
			e, numbers := c.must("estimate", a, nil)
			if e["reports"] != float64(rows) || len(numbers)%(8*4) != 0 || len(numbers) == 0 {
				t.Errorf("%v: estimate of %v reports with %d bytes", made["mechanism"], e["reports"], len(numbers))
			}
			if made["mechanism"] == "none" && !bytes.Equal(numbers[:32], floats(false, 0.5, -0.25, 0, 1)) {
				t.Errorf("the mean of equal rows of type %s has the bytes %x", name, numbers[:32])
			}
		}
	}
}

func TestBadRequestsAreNamed(t *testing.T) {
	c := newCaller(t)
	made, description := c.must("round.new", small, nil)
	r := c.open(description)
	answer, _ := c.must("aggregator", fmt.Sprintf(`{"round": %v}`, made["round"]), nil)
	a := answer["aggregator"]
	nan := floats(false, 1, 2, 3, math.NaN())
	for _, q := range []struct {
		op, args    string
		payload     []byte
		kind, param string
	}{
		{"dance", `{}`, nil, KindParam, "op"},
		{"encode", `{"rounds": 1}`, nil, KindParam, "rounds"},
		{"encode", `[]`, nil, KindParam, "args"},
		{"encode", `{} {}`, nil, KindParam, "header"},
		{"round.new", `{"id": "r", "mechanism": "coco", "dim": 4, "scale": 1, "epsilon": 4, "min_reports": 3, "params": {"sparsity": null}}`, nil, KindParam, "sparsity"},
		{"round.new", strings.Replace(small, `"sparsity": 2`, `"sparsity": 2.5`, 1), nil, KindParam, "sparsity"},
		{"round.new", strings.Replace(small, `"dim": 4`, `"dim": 4.5`, 1), nil, KindParam, "dim"},
		{"round.new", strings.Replace(small, `"epsilon": 4`, `"epsilon": "much"`, 1), nil, KindParam, "epsilon"},
		{"round.new", strings.Replace(small, `"epsilon": 4`, `"epsilon": null`, 1), nil, KindParam, "epsilon"},
		{"round.open", `{"policy": {"max_epsilon": "4"}}`, description, KindParam, "policy.max_epsilon"},
		{"round.open", `{"policy": {"max_epsilon": -1}}`, description, KindParam, "max_epsilon"},
		{"round.open", `{"policy": {"max_epsilon": 4, "mechanisms": ["cocoa"]}}`, description, KindParam, "mechanisms[0]"},
		{"round.new", strings.Replace(small, `"dim": 4`, `"dim": 0`, 1), nil, KindParam, "dim"},
		{"round.new", strings.Replace(small, `"id"`, `"relation": "add-one", "id"`, 1), nil, KindParam, "relation"},
		{"round.open", `{"policy": {}}`, []byte("x"), KindParam, "description"},
		{"encode", `{"round": 99, "type": "f4", "rows": 1}`, nil, KindParam, "round"},
		{"encode", fmt.Sprintf(`{"round": %v, "type": "f4", "rows": 1}`, a), nil, KindParam, "round"},
		{"encode", fmt.Sprintf(`{"round": %d, "type": "f2", "rows": 1}`, r), nil, KindParam, "type"},
		{"encode", fmt.Sprintf(`{"round": %d, "type": "f4", "rows": 0}`, r), nil, KindParam, "rows"},
		{"encode", fmt.Sprintf(`{"round": %d, "type": "f4", "rows": 9223372036854775807}`, r), nil, KindParam, "rows"},
		{"encode", fmt.Sprintf(`{"round": %d, "type": "f8", "rows": 1}`, r), make([]byte, 31), KindParam, "rows"},
		{"encode", fmt.Sprintf(`{"round": %d, "type": "f8", "rows": 1}`, r), nan, KindParam, "gradient"},
		{"add", fmt.Sprintf(`{"aggregator": %v}`, a), []byte("123456"), KindParam, "reports"},
		{"add", fmt.Sprintf(`{"aggregator": %v}`, a), nil, KindParam, "reports"},
		{"add", fmt.Sprintf(`{"aggregator": %v}`, a), bytes.Repeat([]byte{255}, int(made["report_bytes"].(float64))), KindBadReport, ""},
		{"merge", fmt.Sprintf(`{"aggregator": %v, "other": %v}`, a, a), nil, KindParam, "other"},
		{"restore", fmt.Sprintf(`{"aggregator": %v}`, a), []byte("no snapshot, but long enough for its header to be there"), KindParam, "format"},
		{"estimate", fmt.Sprintf(`{"aggregator": %v}`, a), nil, KindNoReports, "reports"},
		{"ledger", `{"path": ""}`, nil, KindParam, "path"},
		{"ledger", `{"path": "/no/such/folder/ledger", "must_exist": true}`, nil, KindLedger, "path"},
		{"ledger", `{"path": "/no/such/folder/ledger"}`, nil, KindLedger, "path"},
		{"account", fmt.Sprintf(`{"round": %d, "clients": 100, "participations": 0, "delta": 1e-6}`, r), nil, KindParam, "participations"},
		{"account", fmt.Sprintf(`{"round": %d, "clients": 1, "participations": 1, "delta": 1e-6}`, r), nil, KindParam, "clients"},
		{"account", fmt.Sprintf(`{"round": %d, "clients": 100, "participations": 1, "delta": 1e-6, "ahead": -1}`, r), nil, KindParam, "ahead"},
		{"account", fmt.Sprintf(`{"round": %d, "clients": 100, "participations": 1, "delta": 1e-6, "ahead": 65}`, r), nil, KindParam, "ahead"},
		{"verify", fmt.Sprintf(`{"round": %d, "method": "hope"}`, r), nil, KindParam, "method"},
		{"verify", fmt.Sprintf(`{"round": %d, "samples": 1}`, r), nil, KindParam, "samples"},
		{"plan", `{"mechanism": "auto", "dim": 10, "clients": 1}`, nil, KindParam, "clients"},
		{"plan", `{"mechanism": "auto", "dim": 10, "clients": 10, "trust": "hope"}`, nil, KindParam, "trust"},
		{"plan", `{"mechanism": "auto", "dim": 2, "clients": 10}`, floats(false, 1, 2), KindParam, "public"},
		{"plan", `{"clients": 10, "labels": [0, 1]}`, nil, KindParam, "public"},
		{"plan", `{"clients": 10, "public": 2, "type": "f8", "labels": [0, 1]}`, floats(false, 1, 2), KindParam, "public"},
		{"plan", `{"clients": 10, "public": 2, "type": "f8", "features": 1, "labels": [0, 1]}`, floats(false, 1, 2), KindParam, "public"}, // too few
		{"plan", `{"clients": 10, "public": 2, "type": "f8", "features": 1, "labels": [0]}`, floats(false, 1, 2), KindParam, "labels"},
		{"plan", `{"clients": 10, "dim": 2, "network": true}`, nil, KindParam, "network"},
		{"plan", `{"clients": 10, "public": 2, "type": "f8", "features": 1, "labels": [0, 1], "network": true}`, floats(false, 1, 2), KindParam, "network"},
		{"plan", `{"clients": 10, "public": 2, "type": "f8", "features": 1, "labels": [0, 1], "zero_shot": 0.5}`, floats(false, 1, 2), KindParam, "zero shot"},
		{"compare", `{"mechanism": "auto", "dim": 2, "clients": 10}`, floats(false, 1, 2), KindParam, "public"},
		{"plan", `{"mechanism": "auto", "dim": 2, "clients": 10, "public": 2, "type": "f2"}`, floats(false, 1, 2, 3, 4), KindParam, "type"},
		{"plan", `{"mechanism": "auto", "dim": 2, "clients": 10, "public": 1, "type": "f8"}`, floats(false, 1, 2), KindParam, "public"},
		{"plan", `{"mechanism": "auto", "dim": 0, "clients": 10, "public": 65537, "type": "f8"}`, nil, KindParam, "public"},
		{"plan", `{"mechanism": "auto", "dim": 0, "clients": 10, "public": 2, "type": "f8"}`, nil, KindParam, "public"},
		{"plan", `{"mechanism": "auto", "dim": 4611686018427387904, "clients": 10, "public": 2, "type": "f8"}`, nil, KindParam, "public"},
		{"plan", `{"mechanism": "auto", "dim": 2, "clients": 10, "public": 2, "type": "f8"}`, floats(false, 1, 2, 3), KindParam, "public"},
		{"plan", `{"mechanism": "auto", "dim": 2, "clients": 10, "public": 2, "type": "f8", "delta": 1e-6}`, floats(false, 1, 2, 3, 4, 5, 6), KindParam, "public"},
		{"plan", `{"mechanism": "auto", "dim": 2, "clients": 10, "public": 2, "type": "f4"}`, floats(true, 1, 2, 3, math.Inf(1)), KindParam, "public"},
	} {
		_, out, failed := c.ask(q.op, q.args, q.payload)
		if failed == nil || failed.Kind != q.kind || q.param != "" && failed.Param != q.param || len(out) > 0 {
			t.Errorf("%s %s: %+v and %d bytes, want an error of kind %s for %q", q.op, q.args, failed, len(out), q.kind, q.param)
		}
	}
}

// A caller that sends its rows in several requests learns which of all of them is wrong.
func TestAnErrorCountsRowsFromTheFirst(t *testing.T) {
	c := newCaller(t)
	_, description := c.must("round.new", small, nil)
	r := c.open(description)
	payload := append(floats(false, 1, 2, 3, 4), floats(false, 1, 2, 3, math.Inf(1))...)
	for first, want := range map[string]string{"": "rows[1]: ", `, "first": 65536`: "rows[65537]: "} {
		_, _, failed := c.ask("encode", fmt.Sprintf(`{"round": %d, "type": "f8", "rows": 2%s}`, r, first), payload)
		if failed == nil || !strings.HasPrefix(failed.Message, want) {
			t.Errorf("%q: %+v, want %q", first, failed, want)
		}
	}
}

func TestHandlesAreLimitedAndReleased(t *testing.T) {
	c := newCaller(t)
	made, _ := c.must("round.new", small, nil)
	for range MaxHandles - 1 {
		if _, err := c.hold(none{}); err != nil {
			t.Fatal(err)
		}
	}
	args := fmt.Sprintf(`{"round": %v}`, made["round"])
	if _, _, failed := c.ask("aggregator", args, nil); failed == nil || failed.Param != "handles" {
		t.Errorf("one object too many: %+v", failed)
	}
	c.Call(context.Background(), []byte(`{"op": "release", "args": {}, "release": [2, 2, 3]}`), nil)
	c.must("aggregator", args, nil)
	if len(c.objects) != MaxHandles-1 {
		t.Errorf("%d objects after two were released and one was made", len(c.objects))
	}
}

// A sample of public gradients is the same in both types of numbers, and says what a plan leaves of the gradients.
func TestAPlanTakesPublicGradients(t *testing.T) {
	c := newCaller(t)
	numbers := make([]float64, 64*8)
	for i := range numbers {
		numbers[i] = float64(1+i%8) / 8
	}
	const args = `{"mechanism": "auto", "trust": "nobody", "dim": 8, "clients": %d, "rounds": 4, "budget": 2, "delta": 1e-6, "public": 64, "type": %q, "zero_shot": %v, "force": %v}`
	wide, _ := c.must("plan", fmt.Sprintf(args, 20000, "f8", 0.5, false), floats(false, numbers...))
	narrow, _ := c.must("plan", fmt.Sprintf(args, 20000, "f4", 0.5, false), floats(true, numbers...))
	if fmt.Sprint(wide) != fmt.Sprint(narrow) {
		t.Errorf("32 bits: %v, 64 bits: %v", narrow, wide)
	}
	if wide["trust"] != "nobody" || wide["budget"] != 2.0 || wide["l1"] != 4.5 || wide["promise"].(map[string]any)["epsilon_local_total"] != 2.0 {
		t.Errorf("the plan is %v", wide)
	}
	for _, name := range []string{"slope", "signal_to_noise", "expected_accuracy", "warm_factor"} {
		if v, ok := wide[name].(float64); !ok || v <= 0 {
			t.Errorf("%s is %v", name, wide[name])
		}
	}
	if _, _, failed := c.ask("plan", fmt.Sprintf(args, 10, "f8", 0, false), floats(false, numbers...)); failed == nil || failed.Kind != KindNoise || !strings.Contains(failed.Message, "What would not be refused") {
		t.Errorf("a plan of 10 clients: %+v", failed)
	}
	forced, _ := c.must("plan", fmt.Sprintf(args, 10, "f8", 0, true), floats(false, numbers...))
	if ratio, ok := forced["signal_to_noise"].(float64); !ok || ratio >= 1 || forced["warm_factor"] != nil || forced["expected_accuracy"] != nil {
		t.Errorf("a plan that is forced: %v", forced)
	}
}

func TestPlanAndAccountAgree(t *testing.T) {
	c := newCaller(t)
	answer, _ := c.must("plan", `{"mechanism": "coco", "trust": "shuffler", "dim": 100, "clients": 2000, "rounds": 4, "cohort": 500, "epsilon": 2, "delta": 1e-6, "l1": 5, "l2": 1}`, nil)
	round, err := json.Marshal(answer["round"])
	if err != nil {
		t.Fatal(err)
	}
	planned := answer["promise"].(map[string]any)
	made, _ := c.must("round.new", strings.Replace(string(round), `"id":""`, `"id":"r"`, 1), nil)
	got, _ := c.must("account", fmt.Sprintf(`{"round": %v, "clients": %v, "participations": %v, "delta": 1e-6}`, made["round"], answer["cohort"], planned["participations"]), nil)
	if fmt.Sprint(got["promises"]) != fmt.Sprint([]any{planned}) || planned["epsilon_local"] != 2.0 {
		t.Errorf("account says %v, the plan %v", got, planned)
	}
	several, _ := c.must("account", fmt.Sprintf(`{"round": %v, "clients": %v, "participations": 1, "delta": 1e-6, "ahead": 2}`, made["round"], answer["cohort"]), nil)
	for i, promise := range several["promises"].([]any) {
		one, _ := c.must("account", fmt.Sprintf(`{"round": %v, "clients": %v, "participations": %d, "delta": 1e-6}`, made["round"], answer["cohort"], 1+i), nil)
		if fmt.Sprint(one["promises"]) != fmt.Sprint([]any{promise}) {
			t.Errorf("account says %v for %d participations, and %v for several", one, 1+i, promise)
		}
	}
	if n := len(several["promises"].([]any)); n != 3 {
		t.Errorf("%d promises, want one and two ahead", n)
	}
}
