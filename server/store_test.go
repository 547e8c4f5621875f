package server_test

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
)

// Closed rounds do not count against MaxOpenRounds.
func TestARoundClosedMakesRoomForTheNext(t *testing.T) {
	p := start(t, server.Config{MaxOpenRounds: 1})
	for _, id := range []string{"a", "b", "c"} {
		r := open(t, p, puppetRound(id, nil))
		_, err := p.operator.OpenRound(t.Context(), puppetRound("another", nil))
		wantCode(t, "a second open round", errors.Unwrap(err), codes.ResourceExhausted)
		if _, err := submit(t, p, request(t, r, 1, []byte("c"))); err != nil {
			t.Fatal(err)
		}
		if err := p.operator.CloseRound(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheNewestOpenRoundIsTheDefault(t *testing.T) {
	p := start(t, server.Config{})
	newest := func() string {
		resp, err := p.rounds.GetRound(t.Context(), &service.GetRoundRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return resp.GetStatus().GetRound().GetId()
	}
	open(t, p, puppetRound("a", nil))
	r := open(t, p, puppetRound("b", nil))
	if got := newest(); got != "b" {
		t.Errorf("with a and b open: %s, want b", got)
	}
	if _, err := submit(t, p, request(t, r, 1, []byte("c"))); err != nil {
		t.Fatal(err)
	}
	if err := p.operator.CloseRound(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if got := newest(); got != "a" {
		t.Errorf("with a open and b closed: %s, want a", got)
	}
}

func TestOldEstimatesAreForgottenButTheirIDsAreNot(t *testing.T) {
	p := start(t, server.Config{KeepRounds: 1})
	for _, id := range []string{"a", "b"} {
		open(t, p, cocoRound(id))
		part := join(t, p, id)
		if _, err := part.Submit(t.Context(), encode(t, part, 3)); err != nil {
			t.Fatal(err)
		}
		if err := p.operator.CloseRound(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	// Forgetting happens right after the close that made it necessary.
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := p.operator.Estimate(t.Context(), "a", false); err != nil {
			wantCode(t, "a forgotten estimate", errors.Unwrap(err), codes.NotFound)
			break
		}
		if time.Now().After(end) {
			t.Fatal("the estimate of a is still there")
		}
	}
	if _, err := p.operator.Estimate(t.Context(), "b", false); err != nil {
		t.Errorf("the newest estimate: %v", err)
	}
	_, err := p.operator.OpenRound(t.Context(), cocoRound("a"))
	wantCode(t, "a used id", errors.Unwrap(err), codes.AlreadyExists)
	_, err = p.client.Join(t.Context(), "")
	wantCode(t, "no open round", errors.Unwrap(err), codes.NotFound)
	_, err = p.client.Join(t.Context(), "b")
	if err == nil {
		t.Error("joined a closed round")
	}
}
