package abi

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestAnAggregatorIsMergedStoredAndRestored(t *testing.T) {
	c := newCaller(t)
	made, description := c.must("round.new", small, nil)
	r := c.open(description)
	_, reports := c.must("encode", fmt.Sprintf(`{"round": %d, "type": "f8", "rows": 2}`, r), floats(false, 1, 2, 3, 4, -1, 0, 1, 0))
	fresh := func() string {
		answer, _ := c.must("aggregator", fmt.Sprintf(`{"round": %v}`, made["round"]), nil)
		return fmt.Sprint(answer["aggregator"])
	}
	one := func(handle string) string { return `{"aggregator": ` + handle + `}` }
	a, b, whole := fresh(), fresh(), fresh()
	c.must("add", one(a), reports)
	if _, _, failed := c.ask("estimate", one(a), nil); failed == nil || failed.Kind != KindTooFewReports || failed.Param != "reports" {
		t.Errorf("an estimate of 2 of 3 reports: %+v", failed)
	}
	_, stored := c.must("snapshot", one(a), nil)
	c.must("restore", one(b), stored)
	c.must("merge", `{"aggregator": `+a+`, "other": `+b+`}`, nil)
	c.must("add", one(whole), append(reports, reports...))
	_, merged := c.must("snapshot", one(a), nil)
	_, want := c.must("snapshot", one(whole), nil)
	if !bytes.Equal(merged, want) {
		t.Error("merged parts differ from the whole")
	}
}

// More reports than fl.MaxBatch are counted together, or none of them.
func TestAddTakesMoreThanABatch(t *testing.T) {
	for _, round := range []string{small, `{"id": "r", "mechanism": "sumdp", "dim": 1, "scale": 1, "epsilon": 1, "delta": 1e-6, "min_reports": 1000, "params": {"range": 0.8, "levels": 1}}`} {
		c := newCaller(t)
		made, description := c.must("round.new", round, nil)
		r, dim := c.open(description), int(made["dim"].(float64))
		_, some := c.must("encode", fmt.Sprintf(`{"round": %d, "type": "f8", "rows": 64}`, r), make([]byte, 8*dim*64))
		answer, _ := c.must("aggregator", fmt.Sprintf(`{"round": %d}`, r), nil)
		a := fmt.Sprintf(`{"aggregator": %v}`, answer["aggregator"])
		many := bytes.Repeat(some, 1+fl.MaxBatch/64)
		if counted, _ := c.must("add", a, many); counted["reports"] != float64(fl.MaxBatch+64) {
			t.Errorf("%v: counted %v", made["mechanism"], counted["reports"])
		}
		_, before := c.must("snapshot", a, nil)
		if _, _, failed := c.ask("add", a, append(many, 0x80)); failed == nil {
			t.Errorf("%v: a cut report behind a batch is counted", made["mechanism"])
		}
		if size := int(made["report_bytes"].(float64)); size > 0 {
			_, _, failed := c.ask("add", a, append(many[:len(many):len(many)], bytes.Repeat([]byte{255}, size)...))
			if place := fmt.Sprintf("reports[%d]", fl.MaxBatch+64); failed == nil || failed.Kind != KindBadReport || !strings.Contains(failed.Message, place) {
				t.Errorf("a bad report behind a batch: %+v, want one that names %s", failed, place)
			}
		}
		if _, after := c.must("snapshot", a, nil); !bytes.Equal(before, after) {
			t.Errorf("%v: a part of refused reports was counted", made["mechanism"])
		}
	}
}
