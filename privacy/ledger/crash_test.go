package ledger_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/internal/durable/outage"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

const crashBudget = 60 // charges of ε = 1

// counterOf is the counter of a ledger, in a directory beside its own.
func counterOf(path string) string { return filepath.Dir(path) + ".counter" }

// worker opens the ledger and takes random steps. It prints each step when it is durable. It
// ends only by being killed, or when the budget is used up and nothing is left to do.
func worker(path string, seed uint64) error {
	l, err := ledger.Open(path, ledger.Options{Counter: counterOf(path)})
	if err != nil {
		return err
	}
	if err := l.SetBudget(purpose, limit(crashBudget)); err != nil {
		return err
	}
	if err := l.SetCentralBudget(purpose, limit(crashBudget)); err != nil {
		return err
	}
	fmt.Println("budget 0 0")
	todo := map[ledger.State][]ledger.ID{}
	es, err := l.Entries(purpose)
	if err != nil {
		return err
	}
	for _, e := range es {
		todo[e.State] = append(todo[e.State], e.ID)
	}
	rng := random(seed)
	take := func(s ledger.State) (id ledger.ID, ok bool) {
		if len(todo[s]) == 0 {
			return 0, false
		}
		id = todo[s][0]
		todo[s] = todo[s][1:]
		return id, true
	}
	for full := false; ; {
		switch step := rng.IntN(10); {
		case step < 4 && !full:
			n := rng.Uint64()
			id, err := l.Reserve(context.Background(), crashCharge(n))
			switch {
			case errors.Is(err, ledger.ErrBudget):
				full = true
				continue
			case err != nil:
				return err
			}
			fmt.Println("reserved", id, n)
			todo[ledger.Reserved] = append(todo[ledger.Reserved], id)
		case step > 7:
			if len(todo[ledger.Reserved]) == 0 {
				continue
			}
			id, n := todo[ledger.Reserved][0], rng.Uint64()
			if err := l.Keep(id, keptNumber(n)); err != nil {
				return err
			}
			fmt.Println("kept", id, n)
		case step < 6:
			id, ok := take(ledger.Reserved)
			if !ok {
				continue
			}
			if err := l.Spend(id); err != nil {
				return err
			}
			fmt.Println("spent", id, 0)
			todo[ledger.Spent] = append(todo[ledger.Spent], id)
		case step == 6:
			id, ok := take(ledger.Reserved)
			if !ok {
				continue
			}
			if err := l.Release(id); err != nil {
				return err
			}
			fmt.Println("released", id, 0)
			full = false
		default:
			id, ok := take(ledger.Spent)
			if !ok {
				if full && len(todo[ledger.Reserved]) == 0 {
					return l.Close()
				}
				continue
			}
			if err := l.Receipt(id, "ok"); err != nil {
				return err
			}
			fmt.Println("acknowledged", id, 0)
		}
	}
}

// crashCharge is the charge of a round: ε = 1, and of every second round 0.25 centrally.
func crashCharge(n uint64) ledger.Charge {
	c := charge(n, 1)
	if n%2 == 0 {
		c.Central = shuffled(0.25, 0)
	}
	return c
}

// keptNumber is what an entry keeps: a number, more than once.
func keptNumber(n uint64) []byte {
	return bytes.Repeat(binary.BigEndian.AppendUint64(nil, n), 1+int(n%2000))
}

// known is what the parent knows of an entry.
type known struct {
	state  string
	number uint64 // of the round
	kept   uint64 // 0 for nothing
}

// since is what is known after later reports.
func (k known) since(later known) known {
	return known{cmp.Or(later.state, k.state), cmp.Or(later.number, k.number), cmp.Or(later.kept, k.kept)}
}

// Processes are killed at random moments. Every step that was reported durable is there.
// Beyond these there is at most the one that the process was in. Nothing is counted twice and
// the budget holds. The counter, which is written after each step, never refuses the ledger.
func TestKilledProcesses(t *testing.T) {
	ledgers, perLedger := 2, 12
	if *long {
		ledgers, perLedger = 20, 25
	}
	var mu sync.Mutex
	var steps, during int
	t.Run("ledgers", func(t *testing.T) {
		for i := range ledgers {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				power := outage.Disk(t, fmt.Sprint("ledger-", i))
				path := filepath.Join(power, "kept", "ledger") // beside its counter
				must(t, durable.MakeDir(filepath.Dir(path), 0o700))
				model := map[ledger.ID]known{}
				rng := random(uint64(1000 + i))
				for kill := range perLedger {
					acked := killOne(t, power, path, uint64(i*perLedger+kill), rng.IntN(9), time.Duration(rng.IntN(600))*time.Microsecond)
					for id, k := range acked {
						model[id] = model[id].since(k)
					}
					extra := compare(t, path, model)
					if t.Failed() {
						t.Fatalf("after kill %d", kill)
					}
					mu.Lock()
					steps += len(acked)
					during += extra
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("%d kills, %d entries moved before them, %d times a step was durable but not yet reported", ledgers*perLedger, steps, during)
	if steps < ledgers*perLedger || *long && during == 0 {
		t.Errorf("the kills miss the writes: %d entries moved, %d unreported", steps, during)
	}
}

// killOne runs a worker, kills it some time after its n-th report, and returns what it
// reported.
func killOne(t *testing.T, power, path string, seed uint64, n int, later time.Duration) map[ledger.ID]known {
	t.Helper()
	cmd, out := start(t, "worker", path, seed)
	acked := map[ledger.ID]known{}
	read := func() bool {
		line, err := out.ReadString('\n')
		if err != nil {
			return false
		}
		var state string
		var id ledger.ID
		var number uint64
		if _, err := fmt.Sscan(line, &state, &id, &number); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		switch state {
		case "budget":
		case "kept":
			acked[id] = acked[id].since(known{kept: number})
		default:
			acked[id] = acked[id].since(known{state: state, number: number})
		}
		return true
	}
	for range n {
		if !read() {
			break
		}
	}
	if n == 0 {
		later *= 20 // somewhere in the start of the process
	}
	time.Sleep(later)
	outage.During(t, power, func() {
		_ = cmd.Process.Kill()
		for read() {
		}
		if err := cmd.Wait(); err != nil && !strings.Contains(err.Error(), "killed") && !outage.Possible() {
			t.Fatal(err)
		}
	})
	return acked
}

// compare checks the file against what was reported, takes over the step that was not, and
// returns how many there were.
func compare(t *testing.T, path string, model map[ledger.ID]known) (extra int) {
	t.Helper()
	l, err := ledger.Open(path, ledger.Options{Counter: counterOf(path)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	es, err := l.Entries(purpose)
	must(t, err)
	counted, central := 0, 0.
	rounds := map[[32]byte]bool{}
	found := map[ledger.ID]bool{}
	for _, e := range es {
		if rounds[e.Charge.Round] || found[e.ID] {
			t.Errorf("entry %v is there twice", e.ID)
		}
		rounds[e.Charge.Round], found[e.ID] = true, true
		if e.State != ledger.Released {
			counted++
			if c := e.Charge.Central.Epsilon; c > 0 {
				central += c
			} else {
				central++
			}
		}
		k, ok := model[e.ID]
		if ok && k.number != 0 && digest(k.number) != e.Charge.Round {
			t.Errorf("entry %v: another round than was reported", e.ID)
		}
		if ok && k.number != 0 && e.Charge.Central != crashCharge(k.number).Central {
			t.Errorf("entry %v: %v is not the central guarantee that was reported", e.ID, e.Charge.Central)
		}
		data, err := l.Kept(e.ID)
		must(t, err)
		ended := e.State == ledger.Acknowledged || e.State == ledger.Released
		switch {
		case ended && data != nil:
			t.Errorf("entry %v is %v and keeps %d bytes", e.ID, e.State, len(data))
		case ended || data == nil && k.kept == 0 || k.kept != 0 && bytes.Equal(data, keptNumber(k.kept)):
		default: // the step that was not reported
			extra++
			if len(data) < 8 || !bytes.Equal(data, keptNumber(binary.BigEndian.Uint64(data))) || e.State != ledger.Reserved {
				t.Errorf("entry %v is %v and keeps %d bytes, reported was %d", e.ID, e.State, len(data), k.kept)
			} else {
				k.kept = binary.BigEndian.Uint64(data)
				model[e.ID] = k
			}
		}
		if k.state == e.State.String() {
			continue
		}
		extra++
		step := k.state + ">" + e.State.String()
		if !strings.Contains(" >reserved reserved>spent reserved>released spent>acknowledged ", " "+step+" ") {
			t.Errorf("entry %v: reported %q, found %v", e.ID, k.state, e.State)
		}
		model[e.ID] = known{e.State.String(), k.number, k.kept}
	}
	for id := range model {
		if !found[id] {
			t.Errorf("entry %v was reported and is lost", id)
		}
	}
	if extra > 1 {
		t.Errorf("%d steps beyond those reported, at most one can be", extra)
	}
	if total, err := l.Spent(purpose); errors.Is(err, ledger.ErrUnknown) && len(model) == 0 {
		return extra // killed before the budget was set
	} else if err != nil || total.Epsilon != float64(counted) || counted > crashBudget {
		t.Errorf("spent %v (%v), want %d, at most %d", total, err, counted, crashBudget)
	}
	if total, err := l.SpentCentral(purpose); errors.Is(err, ledger.ErrUnknown) && len(model) == 0 {
		return extra // killed before that budget was set
	} else if err != nil || total.Epsilon != central {
		t.Errorf("spent %v centrally (%v), want %v", total, err, central)
	}
	return extra
}
