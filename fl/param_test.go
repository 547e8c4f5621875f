package fl

import (
	"errors"
	"testing"
)

func TestParamsAreReadByKind(t *testing.T) {
	p := Params{"i": Int(-3), "r": Real(0.5), "t": Text("x")}
	if v, err := p.Int("i"); err != nil || v != -3 {
		t.Errorf("Int(i) = %d, %v", v, err)
	}
	if v, err := p.Real("r"); err != nil || v != 0.5 {
		t.Errorf("Real(r) = %g, %v", v, err)
	}
	if v, err := p.Real("i"); err != nil || v != -3 {
		t.Errorf("an integer serves as a real: %g, %v", v, err)
	}
	if v, err := p.Text("t"); err != nil || v != "x" {
		t.Errorf("Text(t) = %q, %v", v, err)
	}
	for what, err := range map[string]error{
		"absent integer": second(p.Int("none")), "real as integer": second(p.Int("r")),
		"absent real": second(p.Real("none")), "text as real": second(p.Real("t")),
		"absent text": second(p.Text("none")), "integer as text": second(p.Text("i")),
		"not listed": p.Only("i", "r"),
	} {
		var e *ParamError
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v, want a ParamError", what, err)
		}
	}
	if err := p.Only("i", "r", "t", "more"); err != nil {
		t.Errorf("all listed: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	p := Params{"a": Int(1)}
	q := p.With("a", Int(2)).With("b", Int(3))
	if p["a"] != Int(1) || p.Has("b") || q["a"] != Int(2) || !q.Has("b") {
		t.Errorf("p = %v, q = %v", p, q)
	}
	if n := Params(nil).With("a", Int(1)); !n.Has("a") {
		t.Error("With on nil parameters lost the value")
	}
}
