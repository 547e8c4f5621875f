package abi

import (
	"fmt"
	"testing"
)

func TestARoundEncodesOnlyUnderAPolicyThatAcceptsIt(t *testing.T) {
	c := newCaller(t)
	made, description := c.must("round.new", small, nil)
	row := floats(true, 1, 2, 3, 4)
	encodeArgs := func(handle any) string { return fmt.Sprintf(`{"round": %v, "type": "f4", "rows": 1}`, handle) }
	if _, _, failed := c.ask("encode", encodeArgs(made["round"]), row); failed == nil || failed.Kind != KindPolicy {
		t.Errorf("the round of round.new encodes: %+v", failed)
	}
	unchecked, _ := c.must("round.open", `{"policy": null}`, description)
	if _, _, failed := c.ask("encode", encodeArgs(unchecked["round"]), row); failed == nil || failed.Kind != KindPolicy {
		t.Errorf("a round without a policy encodes: %+v", failed)
	}
	for policy, param := range map[string]string{
		`{}`: "epsilon", `{"max_epsilon": 3.9}`: "epsilon", `{"max_epsilon": 4, "min_reports": 4}`: "min_reports",
		`{"max_epsilon": 4, "max_dim": 3}`: "dim", `{"max_epsilon": 4, "mechanisms": ["collision"]}`: "mechanism",
		`{"max_epsilon": 4, "features": "edges:00"}`: "features",
	} {
		if _, _, failed := c.ask("round.open", `{"policy": `+policy+`}`, description); failed == nil || failed.Kind != KindPolicy || failed.Param != param {
			t.Errorf("policy %s: %+v, want a refusal for %s", policy, failed, param)
		}
	}
	c.must("round.open", `{"policy": {"max_epsilon": 4, "min_reports": 3, "max_dim": 4, "mechanisms": ["coco"]}}`, description)
	if _, _, failed := c.ask("round.open", `{"policy": null, "max_dim": 3}`, description); failed == nil || failed.Param != "dim" {
		t.Errorf("a round above max_dim: %+v", failed)
	}
}
