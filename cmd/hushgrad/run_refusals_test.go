package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/client"
)

// What is wrong with a plan, a state or a server is said with what to type.
func TestRunRefuses(t *testing.T) {
	t.Parallel()
	clients, operator := parts(t, run(t))
	train(t, clients, operator)
	for want, more := range map[string][]string{
		`must be a flag of the command`:                             {`speed = 3`},
		`learning rate: got 0`:                                      {`lr = 0`},
		`rounds: got 0, rule: must be in [1, 1000000]`:              {`rounds = 0`},
		`must not both be 0: no round would end`:                    {`target-reports = 0`},
		`model: got "absent.npy", rule: must be readable`:           {`model = "absent.npy"`},
		`budget: got 0.5, rule: must be at least the ε of one roun`: {`budget = 0.5`},
		`must be one of nobody shuffler with mechanism = "laplace"`: {`trust = "two-servers"`},
		`needs shuffler = NAME in the plan with a budget`:           {`trust = "shuffler"`, `budget = 4`},
		`whose reports promise nothing`:                             {`mechanism = "none"`, `epsilon = inf`, `budget = 1`},
		`clients: got 2, rule: must be 0 or in [target-reports = 3`: {`clients = 2`},
		`name: id: got`: {`name = "a b"`},
	} {
		plan := writePlan(t, "wrong", operator, 2)
		text, err := os.ReadFile(plan)
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
			return slices.ContainsFunc(more, func(other string) bool {
				key, _, _ := strings.Cut(other, "=")
				return strings.HasPrefix(line, key)
			})
		})
		if err := os.WriteFile(plan, []byte(strings.Join(append(lines, more...), "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		if text := refusal(t, "run", "--dry-run", plan); !strings.Contains(text, want) {
			t.Errorf("%v: %q, want %q", more, text, want)
		}
	}

	plan := writePlan(t, "once", operator, 1)
	printed(t, "run", plan)
	if text := refusal(t, "run", "--lr", "0.4", "--rounds", "2", plan); !strings.Contains(text, `lr = 0.4 (before: 0.3); rounds = 2 (before: 1)`) || !strings.Contains(text, "rm "+plan+stateSuffix) {
		t.Errorf("a changed plan: %q", text)
	}
	if text := refusal(t, "run", writePlan(t, "once", operator, 1)); !strings.Contains(text, "its round once-0001 is another run's. Write another name into the plan") {
		t.Errorf("another run of the name: %q", text)
	}

	// A run is busy until it ends.
	r := &runFlags{}
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	r.bind(f)
	command.Configurable(f)
	if err := errors.Join(r.read("hushgrad run", plan), r.prepare(t.Context())); err != nil {
		t.Fatal(err)
	}
	state, err := openState(plan+stateSuffix, r.given(), r.descends(), r.first)
	if err != nil {
		t.Fatal(err)
	}
	if text := refusal(t, "run", plan); !strings.Contains(text, "another hushgrad run has it") {
		t.Errorf("two runs at once: %q", text)
	}
	state.Opened, state.Held = true, 0
	state.Plan["name"] = "forgotten"
	if err := errors.Join(state.save(false), state.Close()); err != nil {
		t.Fatal(err)
	}
	if text := refusal(t, "run", "--name", "forgotten", plan); !strings.Contains(text, "the server has forgotten round forgotten-0001") {
		t.Errorf("a server without its rounds: %q", text)
	}
}

// Rounds that end without an estimate count, and three in a row stop the run until it is started again.
func TestRoundsWithoutAnEstimateCount(t *testing.T) {
	t.Parallel()
	clients, operator := parts(t, run(t))
	p := train(t, clients, operator)
	p.allowed.Store(0)
	plan := writePlan(t, "few", operator, 5, `deadline = "1s"`, `budget = 4`)
	if text := refusal(t, "run", plan); !strings.Contains(text, "3 rounds in a row have ended without an estimate, the last one is few-0003") {
		t.Errorf("nobody reports: %q", text)
	}
	p.allowed.Store(1 << 40)
	lines := strings.Split(strings.TrimSpace(printed(t, "run", "-o", "json", "--deadline", "1s", plan)), "\n")
	var ended endedRun
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &ended); err != nil || ended.Rounds != 4 || ended.Failed < 3 || ended.Planned != 5 || *ended.Promise.LocalTotal != 4 {
		t.Errorf("printed %q, %v: want 4 rounds of 5 within the budget, 3 of them without an estimate", lines, err)
	}
}

// An interrupt while a round is open ends the run as an interrupt does, and the run goes on later.
func TestAnInterruptedRunGoesOn(t *testing.T) {
	t.Parallel()
	clients, operator := parts(t, run(t))
	p := train(t, clients, operator)
	p.allowed.Store(0)
	plan := writePlan(t, "stopped", operator, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			rounds, err := p.operator.Rounds(t.Context())
			if err != nil || slices.ContainsFunc(rounds, func(s client.RoundStatus) bool { return s.Round.ID == "stopped-0001" }) {
				break
			}
		}
		stop()
	}()
	var out, said bytes.Buffer
	if code := call(ctx, []string{"run", plan}, &out, &said); code != 130 || !strings.HasSuffix(said.String(), "hushgrad run: interrupted\n") {
		t.Errorf("exit code %d, %q", code, said.String())
	}
	p.allowed.Store(1)
	if text := printed(t, "run", plan); !strings.Contains(text, "stopped-0001  closed, 3 reports at model 1") {
		t.Errorf("printed %q", text)
	}
}

// A dry run contacts nobody and writes nothing.
func TestADryRun(t *testing.T) {
	plan := writePlan(t, "dry", "127.0.0.1:1", 10, `budget = 4`)
	text := printed(t, "run", "--dry-run", plan)
	for _, want := range []string{"4: dry-0001 to dry-0004, with 2 to 3 reports", "it ends the run after 4 of 10 rounds", "ε = 4, δ = 0 for the 4 reports"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	var answer foretold
	if err := json.Unmarshal([]byte(printed(t, "run", "--dry-run", "--clients", "30", "-o", "json", plan)), &answer); err != nil || !answer.Suffices || answer.AllRounds.Participations != 1 || answer.Bytes == 0 {
		t.Errorf("with 30 clients in turn: %+v, %v", answer, err)
	}
	if _, err := os.Stat(plan + stateSuffix); !os.IsNotExist(err) {
		t.Errorf("a state was written: %v", err)
	}
}
