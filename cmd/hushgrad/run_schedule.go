package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server/client"
)

const (
	// mostInARow is how many rounds in a row may end without an estimate.
	mostInARow = 3
	// weightsFormat is trainer.WeightsFormat: clients read the model as they read the demo's.
	weightsFormat = "application/x-npy"
)

// schedule holds the rounds of a plan. What it has done is in its state before it does the next thing. Every call to the
// server may be repeated: a model that is published again is the same model, and a round is found by its name.
type schedule struct {
	*runFlags
	*runState
	patience
	std      command.Streams
	bar      *progress.Bar
	operator *client.Operator
	issuing  service.IssuerOperatorClient // nil: reports need no token
}

// heldRound is what is printed of a round.
type heldRound struct {
	Round   int          `json:"round"`
	ID      string       `json:"id"`
	State   string       `json:"state"`
	Reports int64        `json:"reports"`
	Model   uint64       `json:"model"` // at which clients computed
	Promise plan.Promise `json:"promise"`
}

// endedRun is what is printed last.
type endedRun struct {
	Rounds  int          `json:"rounds"`
	Failed  int          `json:"rounds_without_an_estimate"`
	Planned int          `json:"rounds_planned"`
	Model   uint64       `json:"model"`
	Promise plan.Promise `json:"promise"`
}

// all holds the rounds that are left, and publishes the trained model.
func (s *schedule) all(ctx context.Context) error {
	s.bar = progress.New(s.std.Err, "rounds")
	defer s.bar.Close()
	return s.remote.connected("is required", func(conn *grpc.ClientConn) error {
		s.operator = client.NewOperator(conn)
		if s.issuer.server == "" {
			return s.hold(ctx)
		}
		return s.issuer.connected("is required", func(conn *grpc.ClientConn) error {
			s.issuing = service.NewIssuerOperatorClient(conn)
			return s.hold(ctx)
		})
	})
}

func (s *schedule) hold(ctx context.Context) error {
	for s.Held < s.limit {
		if s.InARow >= mostInARow {
			s.InARow = 0 // another start of the command tries again
			return errors.Join(s.save(false), fmt.Errorf("%d rounds in a row have ended without an estimate, the last one is %s: too few clients report before the deadline. Find out why, and run the same command again", mostInARow, s.id(s.Held)))
		}
		s.bar.Describe(s.id(s.Held + 1))
		s.bar.Grow(s.limit - s.Held)
		if _, err := s.publish(ctx, s.descent.Params); err != nil {
			return err
		}
		if err := s.holdRound(ctx); err != nil {
			return err
		}
	}
	text, err := s.publish(ctx, s.descent.Average)
	if err != nil {
		return err
	}
	if err := s.saveModel(ctx, text); err != nil {
		return err
	}
	return s.conclude(ctx)
}

// publish makes a model the server's, once, and returns its bytes.
func (s *schedule) publish(ctx context.Context, params []float64) ([]byte, error) {
	text, err := weightsOf(params)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	if bytes.Equal(sum[:], s.Published) {
		return text, nil
	}
	if s.clients > 0 { // again with each model, since the server keeps it until it stops
		often := client.Scalar{Name: client.ReportsOfAClient, Round: 1, Value: float64(s.participates.Participations)}
		if err := s.call(ctx, func() error { return s.operator.PutScalars(ctx, often) }); err != nil {
			return nil, err
		}
	}
	err = s.call(ctx, func() (err error) {
		s.Model, err = s.operator.PutModel(ctx, weightsFormat, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Published = sum[:]
	return text, s.save(false)
}

// holdRound holds the next round.
func (s *schedule) holdRound(ctx context.Context) error {
	id, err := s.open(ctx)
	if err != nil {
		return err
	}
	var estimate *fl.Estimate
	err = s.call(ctx, func() (err error) {
		estimate, err = s.operator.Estimate(ctx, id, true)
		return err
	})
	line := heldRound{Round: s.Held + 1, ID: id, State: client.RoundClosed.String(), Model: s.Model}
	if err != nil {
		found, missing := s.find(ctx, id)
		if missing != nil || found.State == client.RoundOpen || found.State == client.RoundClosed {
			return cmp.Or(missing, err) // without an answer it is not known how the round has ended
		}
		line.State, line.Reports = found.State.String(), int64(found.Reports)
		s.Failed++
		s.InARow++
	} else {
		line.Reports, s.InARow = estimate.Reports, 0
		if _, err := s.descent.Step(estimate.Mean().Value, nil, estimate.Suspects...); err != nil {
			return fmt.Errorf("round %s: %w", id, err)
		}
	}
	s.Held++
	s.Opened = false
	if err := s.save(line.State == client.RoundClosed.String()); err != nil {
		return err
	}
	if line.Promise, err = s.promise(ctx, s.Held); err != nil {
		return err
	}
	return s.say(line, estimate)
}

// open opens the next round, unless it is open or has ended already.
func (s *schedule) open(ctx context.Context) (id string, err error) {
	id = s.id(s.Held + 1)
	wanted := s.describe(id)
	if s.issuing != nil {
		err = s.call(ctx, func() error {
			made, err := s.issuing.CreateKey(ctx, &service.CreateKeyRequest{RoundId: id}) // again: the same keys
			wanted.IssuerKey = made.GetKey().GetPublicKey()
			if s.shuffler != "" {
				wanted.OuterIssuerKey = made.GetKey().GetOuterPublicKey()
			}
			return err
		})
		if err != nil {
			return id, fmt.Errorf("the keys of round %s: %w", id, err)
		}
	}
	found, err := s.find(ctx, id)
	if status.Code(err) == codes.NotFound && !s.Opened {
		found.Round, err = s.ask(ctx, wanted)
	}
	switch {
	case status.Code(err) == codes.NotFound:
		return id, fmt.Errorf("the server has forgotten round %s, which was open: reports of clients are lost, and the rounds so far cannot be counted. Find out why, and begin another run: rm %s and a new name in the plan", id, s.place)
	case err != nil:
		return id, err
	case !ours(found.Round, wanted):
		return id, fl.Invalid("name", s.name, "must be new on the server: its round %s is another run's. Write another name into the plan", id)
	case s.Opened:
		return id, nil
	}
	s.Opened = true
	return id, s.save(false)
}

// ask has the server open a round. A call that has come through and has lost its answer is no error.
func (s *schedule) ask(ctx context.Context, wanted fl.Round) (opened fl.Round, err error) {
	if s.lasts > 0 {
		wanted.Deadline = time.Now().Add(s.lasts)
	}
	err = s.call(ctx, func() (err error) {
		opened, err = s.operator.OpenRound(ctx, wanted)
		return err
	})
	if status.Code(err) == codes.AlreadyExists {
		found, err := s.find(ctx, wanted.ID)
		return found.Round, err
	}
	return opened, err
}

// describe is a round as the run asks for it. It closes at a time that is set when it is opened.
func (s *schedule) describe(id string) fl.Round {
	r := s.round
	r.ID, r.PublicSeed = id, s.publicSeed(id)
	r.Shuffler, r.ShareKey = s.shuffler, s.shareKey
	return r
}

// ours says whether a round on the server is the one that was wanted. The server chooses the key to which reports are sealed.
func ours(found, wanted fl.Round) bool {
	wanted.Deadline, wanted.SealKey = found.Deadline, found.SealKey
	return found.Equal(wanted)
}

// find returns a round of the server. The error has the code NotFound where there is none.
func (s *schedule) find(ctx context.Context, id string) (found client.RoundStatus, err error) {
	err = s.call(ctx, func() error {
		all, err := s.operator.Rounds(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(r client.RoundStatus) bool { return r.Round.ID == id })
		if i < 0 {
			return status.Errorf(codes.NotFound, "round %s is not on the server", id)
		}
		found = all[i]
		return nil
	})
	return found, err
}

// say prints a round.
func (s *schedule) say(line heldRound, e *fl.Estimate) error {
	s.bar.Close()
	if s.output == jsonOutput {
		return s.line(line)
	}
	alarm := ""
	if e != nil && len(e.Suspects) > 0 {
		alarm = fmt.Sprintf("\nalarm: clients lie. More reports agree at %d coordinates than honest clients send, which happens once in 10^6 rounds at most. The step leaves them out", len(e.Suspects))
	}
	_, err := fmt.Fprintf(s.std.Out, "%s  %s, %s at model %d, so far %s%s\n", line.ID, line.State, counted(line.Reports, "report"), line.Model, line.Promise, alarm)
	return err
}

// line writes JSON on one line.
func (s *schedule) line(v any) error {
	form := json.NewEncoder(s.std.Out)
	form.SetEscapeHTML(false)
	return form.Encode(v)
}

// conclude prints how the run has ended.
func (s *schedule) conclude(ctx context.Context) error {
	s.bar.Close()
	p, err := s.promise(ctx, s.Held)
	if err != nil {
		return err
	}
	if s.output == jsonOutput {
		return s.line(endedRun{s.Held, s.Failed, s.rounds, s.Model, p})
	}
	ended := fmt.Sprintf("%d rounds", s.Held)
	if s.Held < s.rounds {
		ended = fmt.Sprintf("%d of %d rounds, where the budget of ε = %g ends", s.Held, s.rounds, s.budget)
	}
	if _, err := fmt.Fprintf(s.std.Out, "\n%-18s %s, %d of them without an estimate\n%-18s version %d on the server\n", "trained", ended, s.Failed, "model", s.Model); err != nil {
		return err
	}
	return p.Print(s.std.Out)
}
