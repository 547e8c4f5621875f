package abi

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestALedgerChargesReservesAndRefuses(t *testing.T) {
	c := newCaller(t)
	_, description := c.must("round.new", small, nil)
	r := c.open(description)
	path := filepath.Join(t.TempDir(), "ledger")
	answer, _ := c.must("ledger", fmt.Sprintf(`{"path": %q}`, path), nil)
	l := answer["ledger"]
	reserveArgs := fmt.Sprintf(`{"ledger": %v, "purpose": "p", "round": %d}`, l, r)
	if _, _, failed := c.ask("reserve", reserveArgs, nil); failed == nil || failed.Kind != KindBudget {
		t.Errorf("without a budget: %+v", failed)
	}
	for op, args := range map[string]string{"spent": `"central": false`, "budget": `"central": true, "epsilon": 1, "delta": 0.1`} {
		if _, _, failed := c.ask(op, fmt.Sprintf(`{"ledger": %v, "purpose": "p", %s}`, l, args), nil); failed == nil || failed.Kind != KindLedgerState || failed.Param != "purpose" {
			t.Errorf("%s without a budget: %+v", op, failed)
		}
	}
	c.must("budget", fmt.Sprintf(`{"ledger": %v, "purpose": "p", "epsilon": 5, "delta": 0}`, l), nil)
	entry, _ := c.must("reserve", reserveArgs, nil)
	step := fmt.Sprintf(`{"ledger": %v, "entry": %v}`, l, entry["entry"])
	if _, _, failed := c.ask("reserve", reserveArgs, nil); failed == nil || failed.Kind != KindCharged || failed.Param != "round" {
		t.Errorf("the same round again: %+v", failed)
	}
	c.must("unspend", step, nil)
	entry, _ = c.must("reserve", reserveArgs, nil)
	step = fmt.Sprintf(`{"ledger": %v, "entry": %v}`, l, entry["entry"])
	c.must("spend", step, nil)
	if _, _, failed := c.ask("spend", step, nil); failed == nil || failed.Kind != KindLedgerState {
		t.Errorf("spent twice: %+v", failed)
	}
	c.must("receipt", fmt.Sprintf(`{"ledger": %v, "entry": %v, "receipt": "ok"}`, l, entry["entry"]), nil)
	if spent, _ := c.must("spent", fmt.Sprintf(`{"ledger": %v, "purpose": "p"}`, l), nil); spent["epsilon"] != 4.0 {
		t.Errorf("spent %v, want 4", spent["epsilon"])
	}
	_, second := c.must("round.new", small, nil)
	if _, _, failed := c.ask("reserve", fmt.Sprintf(`{"ledger": %v, "purpose": "p", "round": %d}`, l, c.open(second)), nil); failed == nil || failed.Kind != KindBudget {
		t.Errorf("a second round of ε = 4 within 5: %+v", failed)
	}
	// Released, the file can be opened again.
	c.Call(context.Background(), fmt.Appendf(nil, `{"op": "release", "args": {}, "release": [%v]}`, l), nil)
	c.must("ledger", fmt.Sprintf(`{"path": %q, "must_exist": true}`, path), nil)
	if _, _, failed := c.ask("ledger", fmt.Sprintf(`{"path": %q}`, path), nil); failed == nil || failed.Kind != KindLedgerInUse || failed.Param != "path" {
		t.Errorf("opened twice: %+v", failed)
	}
}

func TestAFileThatIsNoLedgerIsNamed(t *testing.T) {
	c := newCaller(t)
	for name, data := range map[string]string{"other": "hello", "empty": ""} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, failed := c.ask("ledger", fmt.Sprintf(`{"path": %q}`, path), nil); failed == nil || failed.Kind != KindLedger || failed.Param != "path" || failed.Rule == "" {
			t.Errorf("%s: %+v", name, failed)
		}
	}
}

// realNumbers is laplace with a guarantee for real numbers only.
type realNumbers struct{ fl.Mechanism }

func (realNumbers) Open(r fl.Round) (fl.Mechanism, error) {
	r.Mechanism = "laplace"
	m, err := fl.Open(r)
	return realNumbers{m}, err
}

func (m realNumbers) Guarantee() fl.Guarantee {
	g := m.Mechanism.Guarantee()
	g.RealNumbers = true
	return g
}

func init() { fl.Register("test-real-numbers", realNumbers{}) }

// A client that accepts a guarantee for real numbers says so by its policy, and pays for it.
func TestAGuaranteeForRealNumbersIsCharged(t *testing.T) {
	c := newCaller(t)
	_, description := c.must("round.new", `{"id": "r", "mechanism": "test-real-numbers", "dim": 4, "scale": 1, "epsilon": 4, "min_reports": 3}`, nil)
	if _, _, failed := c.ask("round.open", `{"policy": {"max_epsilon": 4}}`, description); failed == nil || failed.Param != "real_numbers" {
		t.Errorf("a policy that does not accept it: %+v", failed)
	}
	r := c.open(description)
	answer, _ := c.must("ledger", fmt.Sprintf(`{"path": %q}`, filepath.Join(t.TempDir(), "ledger")), nil)
	c.must("budget", fmt.Sprintf(`{"ledger": %v, "purpose": "p", "epsilon": 5, "delta": 0}`, answer["ledger"]), nil)
	c.must("reserve", fmt.Sprintf(`{"ledger": %v, "purpose": "p", "round": %d}`, answer["ledger"], r), nil)
}
