package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
)

// RoundStatus is a round as a server describes it to its operator.
type RoundStatus struct {
	Round fl.Round
	State RoundState
	// Closing is true of an open round whose shuffler was asked for its reports.
	Closing bool
	// Reports is the exact number of reports counted so far.
	Reports int
	// Opened is when the round was opened, and Ended when it ended. Ended is zero until then.
	Opened, Ended time.Time
}

// RoundState says whether a round takes reports, and what became of it.
type RoundState int32

// The states of a round. A server of a later version may know others.
const (
	// RoundOpen takes reports.
	RoundOpen RoundState = 1 + iota
	// RoundClosed has an estimate.
	RoundClosed
	// RoundExpired had fewer than Round.MinReports reports at its deadline: it never has an estimate.
	RoundExpired
	// RoundAborted was ended by its operator: it never has an estimate.
	RoundAborted
	// RoundFailed has reports from which the mechanism could not compute an estimate.
	RoundFailed
)

// String returns "open", "closed", "expired", "aborted" or "failed", or the number of another state.
func (s RoundState) String() string {
	return strings.ToLower(strings.TrimPrefix(service.RoundState(s).String(), "ROUND_STATE_"))
}

// MarshalJSON returns the message hushgrad.v1.RoundStatus in the JSON form of protobuf, with the names
// of its fields and with the fields that have no value.
func (s RoundStatus) MarshalJSON() ([]byte, error) {
	return protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}.Marshal(&service.RoundStatus{
		Round: s.Round.Proto(), State: service.RoundState(s.State), Closing: s.Closing, Reports: uint64(s.Reports),
		Opened: timestamp(s.Opened), Ended: timestamp(s.Ended),
	})
}

func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func timeOf(name string, t *timestamppb.Timestamp) (time.Time, error) {
	if t == nil {
		return time.Time{}, nil
	}
	if err := t.CheckValid(); err != nil {
		return time.Time{}, fl.Invalid(name, t, "must be a time: %v", err)
	}
	return t.AsTime(), nil
}

// roundStatus checks what a server says of a round.
func roundStatus(m *service.RoundStatus) (s RoundStatus, err error) {
	s.State, s.Closing = RoundState(m.GetState()), m.GetClosing()
	if s.Round, err = fl.RoundFromProto(m.GetRound()); err != nil {
		return RoundStatus{}, err
	}
	if m.GetReports() > math.MaxInt {
		return RoundStatus{}, fl.Invalid("reports", m.GetReports(), "must be at most %d", math.MaxInt)
	}
	s.Reports = int(m.GetReports())
	if s.Opened, err = timeOf("opened", m.GetOpened()); err != nil {
		return RoundStatus{}, err
	}
	s.Ended, err = timeOf("ended", m.GetEnded())
	return s, err
}

// Rounds describes the rounds that the server remembers, oldest first. The descriptions are checked: the
// error says which one is no round.
func (o *Operator) Rounds(ctx context.Context) ([]RoundStatus, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := o.api.ListRounds(ctx, &service.ListRoundsRequest{})
	if err != nil {
		return nil, fmt.Errorf("client: rounds: %w", err)
	}
	rounds := []RoundStatus{} // none are [] in JSON, too
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return rounds, nil
		}
		if err != nil {
			return nil, fmt.Errorf("client: rounds: %w", err)
		}
		s, err := roundStatus(resp.GetStatus())
		if err != nil {
			return nil, fmt.Errorf("client: rounds: round %d of the server: %w", len(rounds), err)
		}
		rounds = append(rounds, s)
	}
}
