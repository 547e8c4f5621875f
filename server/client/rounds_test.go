package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
)

// What programs get of a round is the message that the server sent.
func TestRoundsAreTheServersMessages(t *testing.T) {
	opened, ended := time.Unix(1_700_000_000, 5).UTC(), time.Unix(1_700_000_060, 0).UTC()
	open := openRound(t)
	open.Closing, open.Opened = true, timestamppb.New(opened)
	closed := openTiers(t)
	closed.State, closed.Reports, closed.Opened, closed.Ended = service.RoundState_ROUND_STATE_CLOSED, 7, open.Opened, timestamppb.New(ended)
	later := openRound(t)
	later.State = 77
	sent := []*service.RoundStatus{open, closed, later}
	rounds, err := client.NewOperator(dial(t, &liar{listed: sent})).Rounds(t.Context())
	if err != nil || len(rounds) != len(sent) {
		t.Fatalf("%v, %v", rounds, err)
	}
	want := []client.RoundStatus{
		{Round: rounds[0].Round, State: client.RoundOpen, Closing: true, Opened: opened},
		{Round: rounds[1].Round, State: client.RoundClosed, Reports: 7, Opened: opened, Ended: ended},
		{Round: rounds[2].Round, State: 77},
	}
	if !reflect.DeepEqual(rounds, want) {
		t.Errorf("%+v, want %+v", rounds, want)
	}
	for i, state := range []string{"open", "closed", "77"} {
		if got := rounds[i].State.String(); got != state {
			t.Errorf("state %q, want %q", got, state)
		}
		got, err := json.Marshal(rounds[i])
		if err != nil {
			t.Fatal(err)
		}
		message, err := protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}.Marshal(sent[i])
		if err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, message); err != nil || compact.String() != string(got) {
			t.Errorf("JSON %s, want %s, %v", got, &compact, err)
		}
	}
}

func TestRoundsRefusesWhatIsNoRound(t *testing.T) {
	for param, lie := range map[string]func(*service.RoundStatus){
		"round":   func(s *service.RoundStatus) { s.Round = nil },
		"id":      func(s *service.RoundStatus) { s.Round.Id = "\x1b[2J" },
		"reports": func(s *service.RoundStatus) { s.Reports = 1 << 63 },
		"opened":  func(s *service.RoundStatus) { s.Opened = &timestamppb.Timestamp{Nanos: -1} },
		"ended":   func(s *service.RoundStatus) { s.Ended = &timestamppb.Timestamp{Seconds: 1 << 60} },
	} {
		wrong := openRound(t)
		lie(wrong)
		rounds, err := client.NewOperator(dial(t, &liar{listed: []*service.RoundStatus{openRound(t), wrong}})).Rounds(t.Context())
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param || rounds != nil || !strings.Contains(err.Error(), "round 1 of the server") {
			t.Errorf("%s: %v, %v", param, rounds, err)
		}
	}
}
