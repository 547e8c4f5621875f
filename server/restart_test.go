package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal"
)

// dump returns all that a journal has below a prefix, or only the keys.
func dump(t testing.TB, j journal.Journal, prefix string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for p, err := range j.Scan([]byte(prefix), journal.After([]byte(prefix))) {
		if err != nil {
			t.Fatal(err)
		}
		all[string(p.Key)] = string(p.Value)
	}
	return all
}

// What was acknowledged is there after a restart: rounds, reports, keys of batches, estimates
// and the model. The estimate is the one of a server that never stopped.
func TestARestartForgetsNothing(t *testing.T) {
	kept := journal.NewMemory()
	cfg := server.Config{Journal: kept}
	p := start(t, cfg)
	closed, open1 := open(t, p, cocoRound("closed")), open(t, p, cocoRound("open"))
	reports := encode(t, join(t, p, "open"), 9)
	for _, r := range []fl.Round{closed, open1} {
		if _, err := submit(t, p, request(t, r, 1, encode(t, join(t, p, r.ID), 4)...)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := submit(t, p, request(t, open1, 2, reports[:5]...)); err != nil {
		t.Fatal(err)
	}
	if err := p.operator.CloseRound(t.Context(), "closed"); err != nil {
		t.Fatal(err)
	}
	want, err := p.operator.Estimate(t.Context(), "closed", false)
	if err != nil {
		t.Fatal(err)
	}
	model := bytes.Repeat([]byte("weights"), 500_000)
	for _, m := range [][]byte{model[1:], model} {
		if _, err := p.operator.PutModel(t.Context(), "x", m); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}

	p = start(t, cfg)
	got, err := p.operator.Estimate(t.Context(), "closed", false)
	if err != nil || !slices.Equal(got.Mean().Value, want.Mean().Value) || got.Reports != 4 || !slices.Equal(got.Mean().StdErr, want.Mean().StdErr) {
		t.Errorf("the estimate of the closed round: %v, %v, want %v", got, err, want)
	}
	if m, err := p.client.Model(t.Context()); err != nil || m.Version != 2 || !bytes.Equal(m.Data, model) {
		t.Errorf("the model: %v", err)
	}
	resp, err := submit(t, p, request(t, open1, 2, reports[:5]...), request(t, open1, 3, reports[5:]...))
	if err != nil || resp.GetAccepted() != 4 || resp.GetDuplicates() != 5 {
		t.Errorf("a batch from before and a new one: %v, %v, want 5 duplicates and 4 accepted", resp, err)
	}
	_, err = p.operator.OpenRound(t.Context(), cocoRound("closed"))
	wantCode(t, "the id again", errors.Unwrap(err), codes.AlreadyExists)
	if err := p.operator.CloseRound(t.Context(), "open"); err != nil {
		t.Fatal(err)
	}
	if e, err := p.operator.Estimate(t.Context(), "open", false); err != nil || e.Reports != 13 {
		t.Errorf("the estimate of the round that went on: %v, %v, want 13 reports", e, err)
	}
}

// A round that has ended leaves its head and its estimate, and a forgotten one its id.
func TestRoundsThatEndedDropWhatNobodyNeeds(t *testing.T) {
	kept := journal.NewMemory()
	p := start(t, server.Config{Journal: kept, KeepRounds: 1})
	for i, id := range []string{"a", "b", "c"} {
		r := open(t, p, cocoRound(id))
		if _, err := submit(t, p, request(t, r, 1, encode(t, join(t, p, id), 4)...)); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			if err := p.operator.AbortRound(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		} else if err := p.operator.CloseRound(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		want := []string{"server/head/" + id}
		if i < 2 {
			want = append(want, "server/round/"+id+"/estimate/\x00\x00\x00\x00")
		}
		for _, old := range []string{"a", "b", "c"}[:i] {
			want = append(want, "server/used/"+old)
		}
		var got []string
		for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(time.Millisecond) {
			// The server forgets old rounds after it has answered.
			if got = slices.Sorted(maps.Keys(dump(t, kept, "server/"))); slices.Equal(got, want) {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("after round %s: %q, want %q", id, got, want)
		}
	}
	_, err := p.operator.OpenRound(t.Context(), cocoRound("a"))
	wantCode(t, "a forgotten id", errors.Unwrap(err), codes.AlreadyExists)
}

// A round whose deadline passes, or whose target is reached, while no server runs ends when
// the next one starts.
func TestARoundEndsThatWasDueWhileTheServerWasAway(t *testing.T) {
	kept := journal.NewMemory()
	p := start(t, server.Config{Journal: kept})
	late := cocoRound("late")
	late.Deadline = time.Now().Add(50 * time.Millisecond)
	open(t, p, late)
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(60 * time.Millisecond)
	p = start(t, server.Config{Journal: kept})
	_, err := p.operator.Estimate(t.Context(), "late", true)
	wantCode(t, "late", errors.Unwrap(err), codes.FailedPrecondition)
	if got := state(t, p, "late"); got != service.RoundState_ROUND_STATE_EXPIRED {
		t.Errorf("state %v, want EXPIRED", got)
	}
}

func TestAnAbortedRoundReleasesNothing(t *testing.T) {
	p := start(t, server.Config{})
	r := open(t, p, cocoRound("r"))
	if _, err := submit(t, p, request(t, r, 1, encode(t, join(t, p, "r"), 4)...)); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := p.operator.Estimate(context.Background(), "r", true)
		waiting <- err
	}()
	if err := p.operator.AbortRound(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "a waiting call", errors.Unwrap(<-waiting), codes.FailedPrecondition)
	_, err := p.operator.Estimate(t.Context(), "r", false)
	wantCode(t, "a later call", errors.Unwrap(err), codes.FailedPrecondition)
	wantCode(t, "AbortRound again", errors.Unwrap(p.operator.AbortRound(t.Context(), "r")), codes.FailedPrecondition)
	wantCode(t, "CloseRound", errors.Unwrap(p.operator.CloseRound(t.Context(), "r")), codes.FailedPrecondition)
	wantCode(t, "AbortRound of nothing", errors.Unwrap(p.operator.AbortRound(t.Context(), "nowhere")), codes.NotFound)
	_, err = submit(t, p, request(t, r, 2, encode(t, join(t, p, open(t, p, cocoRound("s")).ID), 1)...))
	wantCode(t, "a report", err, codes.FailedPrecondition)
	if got := state(t, p, "r"); got != service.RoundState_ROUND_STATE_ABORTED {
		t.Errorf("state %v, want ABORTED", got)
	}
}

func TestTheOperatorSeesAllRoundsWithTheirCounts(t *testing.T) {
	p := start(t, server.Config{})
	for i, id := range []string{"a", "b", "c"} {
		r := open(t, p, cocoRound(id))
		if _, err := submit(t, p, request(t, r, 1, encode(t, join(t, p, id), 7+i)...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.operator.CloseRound(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	rounds, err := p.operator.Rounds(t.Context())
	if err != nil || len(rounds) != 3 {
		t.Fatalf("%v, %v", rounds, err)
	}
	text := ""
	for _, s := range rounds {
		text += fmt.Sprintf("%s %v %d %t; ", s.Round.ID, s.State, s.Reports, !s.Ended.IsZero())
		if time.Since(s.Opened) > time.Hour || time.Since(s.Opened) < 0 {
			t.Errorf("%s was opened at %v", s.Round.ID, s.Opened)
		}
	}
	if want := "a open 7 false; b closed 8 true; c open 9 false; "; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	for id, want := range map[string]uint64{"a": 5, "b": 8, "c": 5} {
		resp, err := p.rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: id})
		if s := resp.GetStatus(); err != nil || s.GetReports() != want || s.Opened != nil || s.Ended != nil {
			t.Errorf("a client sees of %s: %v, %v, want %d reports and no times", id, s, err, want)
		}
	}
}
