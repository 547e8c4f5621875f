package server_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
)

// puppetRound is a round of the mechanism of puppet_test.go.
func puppetRound(id string, params fl.Params) fl.Round {
	return fl.Round{ID: id, Mechanism: "puppet", Dim: 1, Scale: 1, Epsilon: 1, MinReports: 1, Params: params}
}

// wantInternal checks that a caller learns that something broke, not what.
func wantInternal(t testing.TB, what string, err error) {
	t.Helper()
	st, _ := status.FromError(err)
	if st.Code() != codes.Internal || !strings.HasSuffix(st.Message(), "internal error") || strings.Contains(err.Error(), "strings attached") {
		t.Errorf("%s: %v, want an internal error without details", what, err)
	}
}

func TestAPanicInAdd(t *testing.T) {
	p := start(t, server.Config{})
	r := open(t, p, puppetRound("r", nil))
	for range 3 { // its key is free each time
		_, err := submit(t, p, request(t, r, 1, []byte("c"), []byte("p")))
		wantInternal(t, "a panic in Add", err)
	}
	resp, err := p.rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
	if err != nil || resp.GetStatus().GetReports() != 0 {
		t.Errorf("after panics only: %v, %v, want 0 reports", resp, err)
	}
	if got, err := submit(t, p, request(t, r, 1, []byte("c"))); err != nil || got.GetAccepted() != 1 {
		t.Errorf("the same key for a good batch: %v, %v, want 1 accepted", got, err)
	}
	if err := p.operator.CloseRound(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if e, err := p.operator.Estimate(t.Context(), "r", false); err != nil || e.Reports != 1 {
		t.Errorf("estimate %+v, %v, want 1 report", e, err)
	}
}

func TestAPanicInEstimate(t *testing.T) {
	for name, params := range map[string]fl.Params{
		"panic": {"panics": fl.Text("estimate")},
		"merge": {"fails": fl.Text("merge")},
		"error": {"fails": fl.Text("estimate")}, // a ParamError, but not about the request
	} {
		p := start(t, server.Config{})
		r := open(t, p, puppetRound("r", params))
		if _, err := submit(t, p, request(t, r, 1, []byte("c"))); err != nil {
			t.Fatal(err)
		}
		wantInternal(t, name+": CloseRound", p.operator.CloseRound(t.Context(), "r"))
		_, err := p.operator.Estimate(t.Context(), "r", false)
		wantInternal(t, name+": Estimate", err)
		open(t, p, puppetRound("next", nil)) // the server lives
	}
}

func TestAPanicInOpen(t *testing.T) {
	p := start(t, server.Config{})
	_, err := p.operator.OpenRound(t.Context(), puppetRound("r", fl.Params{"panics": fl.Text("open")}))
	wantInternal(t, "OpenRound", err)
	open(t, p, puppetRound("r", nil)) // the id is free and the server lives
}
