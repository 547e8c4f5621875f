package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/seal"
	"github.com/hushgrad/hushgrad/trainer"
)

var long = flag.Bool("long", false, "build hushgrad, and run three processes for each way to train")

// hushgrad builds the binary for a test of real processes.
func hushgrad(t *testing.T) string {
	t.Helper()
	if !*long {
		t.Skip("builds hushgrad and runs three processes: -long")
	}
	binary, err := parties.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// processes lists the running processes of a binary, on Linux.
func processes(t *testing.T, binary string) (found []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == binary {
			found = append(found, link)
		}
	}
	return found
}

// Three real processes train the same model as one, where tokens assign no seeds: tokens, seals and the shuffler change the order
// of a sum and nothing else. They end with the run, also when it is interrupted, and leave no file behind. They can be
// two servers.
func TestThreePartiesTrainTheSameModel(t *testing.T) {
	binary, temporary := hushgrad(t), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	gone := func(when string) {
		t.Helper()
		if left := processes(t, binary); len(left) > 0 {
			t.Errorf("%s: %v still run", when, left)
		}
		if files, err := os.ReadDir(temporary); err != nil || len(files) > 0 {
			t.Errorf("%s: %v is left, %v", when, files, err)
		}
	}
	models := map[int][]float64{}
	for _, roles := range []int{parties.OneRole, parties.ThreeRoles} {
		dir := t.TempDir()
		args := []string{"--roles", fmt.Sprint(roles), "--rounds", "2", "--cohort", "60", "--clients", "90", "--out", dir}
		if roles == parties.ThreeRoles {
			args = append(args, "--hushgrad", binary)
		}
		o, model, run, data := small(t, "none", args...)
		if err := o.train(t.Context(), model, run, data, command.Streams{Out: io.Discard, Err: io.Discard}); err != nil {
			t.Fatalf("%d roles: %v", roles, err)
		}
		weights, err := trainer.Load(filepath.Join(dir, "model.npy"), model)
		if err != nil {
			t.Fatal(err)
		}
		models[roles] = weights
	}
	gone("after the run")
	for i, want := range models[parties.OneRole] {
		if got := models[parties.ThreeRoles][i]; math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
			t.Fatalf("coordinate %d is %v with three parties and %v with one", i, models[parties.ThreeRoles][i], want)
		}
	}

	// What leaves is 300 sealed reports with a token in the seal and an outer one, and the issuer forgets a round that has ended.
	t.Run("a round", func(t *testing.T) {
		f := running(t, "coco", "--roles", "3", "--hushgrad", binary)
		estimate, err := f.Mean(t.Context(), 0, make([]float64, f.model.Dim()))
		if err != nil {
			t.Fatal(err)
		}
		report := f.run.Opened.(fl.ReportSizer).ReportBytes()
		if want := int64(300 * (report + 2*admit.TokenBytes + 48)); estimate.Reports != 300 || f.bytes.Load() != want {
			t.Errorf("%d reports of %d bytes in all, want 300 of %d", estimate.Reports, f.bytes.Load(), want)
		}
		_, issuer, err := f.Site.(*parties.Three).Trainer()
		if err != nil {
			t.Fatal(err)
		}
		keys, err := service.NewIssuerOperatorClient(issuer).ListKeys(t.Context(), &service.ListKeysRequest{})
		if err != nil || len(keys.GetKeys()) != 0 {
			t.Errorf("the issuer has %d keys, %v", len(keys.GetKeys()), err)
		}
	})

	// The shuffler is the second server of a sum by two: every report leaves in two shares.
	t.Run("two servers", func(t *testing.T) {
		f := running(t, "gaussian-shares", "--roles", "3", "--hushgrad", binary)
		estimate, err := f.Mean(t.Context(), 0, make([]float64, f.model.Dim()))
		if err != nil {
			t.Fatal(err)
		}
		m := f.run.Opened.(fl.SharedMechanism)
		sealed := m.ShareBytes(fl.FirstServer) + 2*admit.TokenBytes + 2*48 + 2*seal.TagBytes // two seals, the tag, and its key
		if want := int64(300 * (sealed + m.ShareBytes(fl.SecondServer))); estimate.Reports != 300 || f.bytes.Load() != want || estimate.Guarantee.Trust != fl.TwoServers {
			t.Errorf("%d reports of %d bytes in all under %v, want 300 of %d by two servers", estimate.Reports, f.bytes.Load(), estimate.Guarantee, want)
		}
		var out strings.Builder
		promise, err := f.run.Spending.Promise(t.Context(), 1)
		if err == nil {
			err = errors.Join(promise.Print(&out), parties.Options{Apart: true}.Print(&out, promise, f.run.Cohort))
		}
		if err != nil {
			t.Fatal(err)
		}
		flat := strings.Join(strings.Fields(out.String()), " ")
		for _, want := range []string{"the two servers together read a client's gradient", "against either server alone", "The central ε counts on no other client", "no privacy against shuffler+aggregator sees both shares: the gradients all three sees both"} {
			if !strings.Contains(flat, want) {
				t.Errorf("the output lacks %q:\n%s", want, out.String())
			}
		}
	})

	// Sites share a sum of their pictures, with a part of the noise, and what is promised is about a picture.
	t.Run("two servers of sites", func(t *testing.T) {
		f := running(t, hdsum.SharesName, "--sites", "3", "--honest-budget", "10", "--roles", "3", "--hushgrad", binary)
		estimate, err := f.Mean(t.Context(), 0, make([]float64, f.model.Dim()))
		if err != nil || estimate.Reports != 3 || estimate.Records != 900 || estimate.Guarantee.Trust != fl.TwoServers {
			t.Fatalf("%+v, %v, want 3 reports of 900 records", estimate, err)
		}
		if h, ok := f.run.Opened.(fl.HonestNoised); !ok {
			t.Errorf("%T", f.run.Opened)
		} else if g, reports, ok := h.HonestGuarantee(); !ok || reports != 2 || !(g.Epsilon < f.run.Template.Epsilon) {
			t.Errorf("%+v with %d honest sites of 3", g, reports)
		}
		var out strings.Builder
		promise, err := f.run.Spending.Promise(t.Context(), 3)
		promise.Unit = f.run.Unit
		if err == nil {
			err = errors.Join(promise.Print(&out), parties.Options{Apart: true}.Print(&out, promise, f.run.Cohort))
		}
		if err != nil {
			t.Fatal(err)
		}
		flat := strings.Join(strings.Fields(out.String()), " ")
		for _, want := range []string{"honest sites ε = 10, δ = 1e-06, against either server alone, if 2 or more of the 3 reports", "for one record in all 3 rounds together", "sees both shares: the sums of sites"} {
			if !strings.Contains(flat, want) {
				t.Errorf("the output lacks %q:\n%s", want, out.String())
			}
		}
	})

	o, model, run, data := small(t, "coco", "--roles", "3", "--hushgrad", binary, "--seed", "0", "--cohort", "450", "--dashboard")
	var log kept
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &trigger{word: "\n    1  ", then: func() {
		if runtime.GOOS == "linux" && len(processes(t, binary)) != 3 {
			t.Errorf("%v run, want three", processes(t, binary))
		}
		if r := shownBy(t, log.String()).Rounds; len(r) != 1 || r[0].Shuffler != parties.Shuffler || !r[0].Tokens || r[0].Reports != 450 {
			t.Errorf("the aggregator shows %+v", r)
		}
		cancel()
	}}
	if err := o.train(ctx, model, run, data, command.Streams{Out: out, Err: &log}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	gone("after an interrupt")
	// The round that did not end counts, too. In two of them a client takes part once.
	p, err := run.Promise(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("\n  central ε = %s, δ = 1e-06 against\n    issuer               sees", fl.FormatUp(*p.Central, 4)),
		fmt.Sprintf("\n    issuer+aggregator    sees the shuffled reports; tokens name no client\n  local ε = %s, δ = 0 against\n    shuffler+aggregator  sees whose", fl.FormatUp(*p.LocalTotal, 4)),
		"counts on 450 honest clients", "for the one report of a client, if",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	fitsATerminal(t, out.String())
	if strings.Contains(out.String(), "No shuffler runs here") {
		t.Error("the output says that nothing shuffles")
	}
}

// Clients accept the planned rounds of these parties, and nothing weaker.
func TestClientsPinTheParties(t *testing.T) {
	_, _, run, _ := small(t, "coco")
	policy, err := parties.Policy(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	one, err := run.Spending.Promise(t.Context(), 1) // the seed voids the run's promise
	pins := policy.Shuffled
	if err != nil || policy.MaxEpsilon != 0 || policy.MinReports != run.Cohort || pins.MaxEpsilonLocal != 5 || pins.MaxEpsilon != *one.Central || pins.MaxDelta != 1e-6 || len(pins.Shufflers) != 1 {
		t.Errorf("%+v, %+v, %v", policy, pins, err)
	}
	_, _, run, _ = small(t, "none")
	if policy, err := parties.Policy(t.Context(), run); err != nil || policy.Shuffled != nil {
		t.Errorf("without privacy: %+v, %v", policy, err)
	}
}

func TestFlagsOfRoles(t *testing.T) {
	for param, args := range map[string][]string{
		"--roles":     {"--roles", "2"},
		"--roles ":    {"--roles", "3", "--mechanism", "sumdp"},
		"--roles  ":   {"--mechanism", "gaussian-shares", "--roles", "1"},
		"--roles   ":  {"--trust", "two-servers", "--roles", "1"},
		"--hushgrad":  {"--hushgrad", "file"},
		"--hushgrad ": {"--roles", "3", "--hushgrad", "absent"}, // before minutes of planning
	} {
		_, err := parse(args, io.Discard)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != strings.TrimSpace(param) {
			t.Errorf("%v: %v, want a ParamError for %s", args, err, param)
		}
	}
	for _, args := range [][]string{{"--trust", "two-servers"}, {"--mechanism", "gaussian-shares"}} {
		if o, err := parse(args, io.Discard); err != nil || o.Roles != parties.ThreeRoles {
			t.Errorf("%v: %v", args, err)
		}
	}
	// A binary that is taken away is an error, and nothing is left of the attempt.
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	binary := filepath.Join(temporary, "hushgrad")
	if err := os.WriteFile(binary, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	o, model, run, data := small(t, "coco", "--roles", "3", "--hushgrad", binary)
	if err := os.Remove(binary); err != nil {
		t.Fatal(err)
	}
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: io.Discard, Err: io.Discard}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no binary: %v", err)
	}
	if files, err := os.ReadDir(temporary); err != nil || len(files) > 0 {
		t.Errorf("%v is left, %v", files, err)
	}
}
