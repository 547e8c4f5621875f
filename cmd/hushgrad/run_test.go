package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/internal/durable/outage"
	"github.com/hushgrad/hushgrad/internal/npy"
	"github.com/hushgrad/hushgrad/server/client"
)

const (
	trainedDim   = 4
	trainedBy    = 3 // clients
	trainedRound = "%s-%04d"
)

// writePlan writes a plan for the trainees, with more lines.
func writePlan(t *testing.T, name, operator string, rounds int, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf("name = %q\nserver = %q\nrounds = %d\nmechanism = \"laplace\"\ndim = %d\nlr = 0.3\nmomentum = 0.5\nmin-reports = 2\ntarget-reports = %d\n%s",
		name, operator, rounds, trainedDim, trainedBy, strings.Join(more, "\n"))
	return writeFile(t, dir, "plan.toml", text)
}

// trainees are clients who send the same reports for a model and the number of a round each time.
type trainees struct {
	operator *client.Operator
	client   *client.Client
	allowed  atomic.Int64 // the last round for which they report
}

// train lets three clients take part in all rounds of a server until the test ends.
func train(t *testing.T, clients, operator string) *trainees {
	t.Helper()
	c, err := client.New(dialServe(t, clients), client.Options{Policy: fl.Policy{MaxEpsilon: 1}})
	if err != nil {
		t.Fatal(err)
	}
	p := &trainees{operator: client.NewOperator(dialServe(t, operator)), client: c}
	p.allowed.Store(1 << 40)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.play(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *trainees) play(ctx context.Context) error {
	played := map[string]bool{"probe": true}
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		rounds, err := p.operator.Rounds(ctx)
		for _, s := range rounds {
			var number int64
			_, numbered := fmt.Sscanf(s.Round.ID[strings.LastIndex(s.Round.ID, "-")+1:], "%d", &number)
			if err != nil || numbered != nil || played[s.Round.ID] || s.State != client.RoundOpen || number > p.allowed.Load() {
				continue
			}
			played[s.Round.ID] = true
			if err = p.report(ctx, s.Round.ID, uint64(number)); status.Code(err) == codes.FailedPrecondition {
				err = nil // the deadline of the round has come
			}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// report sends the gradients of a square around (1, 2, 3, …) at the published model.
func (p *trainees) report(ctx context.Context, id string, number uint64) error {
	part, err := p.client.Join(ctx, id)
	if err != nil {
		return err
	}
	published, err := p.client.Model(ctx)
	if err != nil {
		return err
	}
	gradient, err := npy.Read(bytes.NewReader(published.Data), trainedDim)
	if err != nil {
		return err
	}
	for i := range gradient {
		gradient[i] -= float64(i + 1)
	}
	rng := rand.New(rand.NewPCG(7, number))
	for range trainedBy {
		report, err := part.Encode(nil, gradient, rng)
		if err != nil {
			return err
		}
		if _, err := part.Submit(ctx, [][]byte{report}); err != nil {
			return err
		}
	}
	return nil
}

// model returns the published model.
func (p *trainees) model(t *testing.T) *client.Model {
	t.Helper()
	m, err := p.client.Model(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// status returns a round of the server, and false where there is none.
func (p *trainees) status(t *testing.T, id string) (client.RoundStatus, bool) {
	t.Helper()
	rounds, err := p.operator.Rounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(rounds, func(s client.RoundStatus) bool { return s.Round.ID == id })
	if i < 0 {
		return client.RoundStatus{}, false
	}
	return rounds[i], true
}

// A run that is killed again and again goes on where it was: every estimate is applied once, every model is
// published once, and the trained model is, bit for bit, the model of a run that nobody killed. With -long it is killed
// 50 times in 20 rounds.
func TestAKilledRunEndsAtTheSameModel(t *testing.T) {
	t.Parallel()
	rounds, kills := 4, 3
	if *long {
		rounds, kills = 20, 50
	}
	clients, operator := parts(t, run(t))
	p := train(t, clients, operator)
	printed(t, "run", writePlan(t, "whole", operator, rounds))
	want := p.model(t)
	if want.Version != uint64(rounds+1) {
		t.Errorf("%d rounds have published %d models, want the first one and one for each round", rounds, want.Version)
	}

	clients, operator = parts(t, run(t))
	p = train(t, clients, operator)
	p.allowed.Store(0)
	plan := writePlan(t, "killed", operator, rounds, `out = "`+filepath.Join(t.TempDir(), "model.npy")+`"`)
	power := outage.Disk(t, "run")
	if text, err := os.ReadFile(plan); err != nil {
		t.Fatal(err)
	} else if plan = filepath.Join(power, "plan.toml"); durable.WriteFile(plan, text, 0o600) != nil {
		t.Fatal("the plan is not written")
	}
	var out log
	start := func() *exec.Cmd {
		process := exec.Command(os.Args[0], "run", plan)
		process.Env = append(os.Environ(), asCommand+"=1")
		process.Stdout, process.Stderr = &out, &out
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		return process
	}
	opened := func(id string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if _, found := p.status(t, id); found {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("no round %s: %s", id, &out)
			}
		}
	}
	began, rng, life := time.Now(), rand.New(rand.NewPCG(1, 2)), time.Duration(0)
	process := start()
	for r := range rounds {
		opened(fmt.Sprintf(trainedRound, "killed", r+1))
		if s, found := p.status(t, fmt.Sprintf(trainedRound, "killed", r)); r > 0 && (!found || s.State != client.RoundClosed || s.Reports != trainedBy) {
			t.Errorf("round %d: %+v", r, s)
		}
		if life == 0 {
			life = time.Since(began)
		}
		p.allowed.Store(int64(r + 1))
		for range kills*(r+1)/rounds - kills*r/rounds {
			time.Sleep(time.Duration(1.2 * rng.Float64() * float64(life)))
			outage.During(t, power, func() {
				_ = process.Process.Signal(syscall.SIGKILL)
				_ = process.Wait() // it says that it was killed
			})
			process = start()
		}
	}
	if err := process.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	got := p.model(t)
	if !bytes.Equal(got.Data, want.Data) || got.Version != want.Version {
		t.Errorf("version %d of the model is %x, and version %d without a kill %x", got.Version, got.Data, want.Version, want.Data)
	}
	if _, found := p.status(t, fmt.Sprintf(trainedRound, "killed", rounds+1)); found {
		t.Errorf("there are more than %d rounds", rounds)
	}
	// A run that has ended changes nothing any more: by now the model may be another run's.
	if _, err := p.operator.PutModel(t.Context(), "x", []byte("another run's")); err != nil {
		t.Fatal(err)
	}
	if text := printed(t, "run", plan); !strings.Contains(text, fmt.Sprintf("%d rounds", rounds)) || p.model(t).Version != got.Version+1 {
		t.Errorf("again: %q, version %d", text, p.model(t).Version)
	}
}

// crashing is a connection to a server on which one call is the last one: it is not made, or its answer is lost.
type crashing struct {
	grpc.ClientConnInterface
	calls, last int
	lost        bool
	err         error
}

var errCrash = errors.New("crash")

func (c *crashing) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if c.calls++; c.calls == c.last && !c.lost {
		return c.err
	}
	err := c.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
	if c.calls == c.last && err == nil {
		return c.err
	}
	return err
}

func (c *crashing) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if c.calls++; c.calls == c.last && !c.lost {
		return nil, c.err
	}
	stream, err := c.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	return crashingStream{stream, c.calls == c.last, c.err}, err
}

type crashingStream struct {
	grpc.ClientStream
	crashes bool
	err     error
}

func (s crashingStream) RecvMsg(m any) error {
	if err := s.ClientStream.RecvMsg(m); err != nil || !s.crashes {
		return err
	}
	return s.err
}

// A run may end before or after every one of its calls.
func TestARunGoesOnFromEveryCall(t *testing.T) {
	if !*long {
		t.Skip("takes a second or two")
	}
	t.Parallel()
	clients, operator := parts(t, run(t))
	p := train(t, clients, operator)
	conn := dialServe(t, operator)
	life := func(plan string, last int, lost bool, crash error) (calls int, err error) {
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
		through := &crashing{conn, 0, last, lost, crash}
		s := &schedule{runFlags: r, runState: state, std: command.Streams{Out: new(log), Err: new(log)}, patience: patience{notes: new(log)}, operator: client.NewOperator(through)}
		err = s.hold(t.Context())
		if closed := state.Close(); closed != nil {
			t.Fatal(closed)
		}
		return through.calls, err
	}
	calls, err := life(writePlan(t, "whole", operator, 2), 0, false, nil)
	want := p.model(t)
	if err != nil || calls != 9 || want.Version != 3 {
		t.Fatalf("%d calls to version %d, %v: want, for two rounds, to publish, look, open and fetch, and to publish once more", calls, want.Version, err)
	}
	for last := 1; last <= calls; last++ {
		for _, lost := range []bool{false, true} {
			before := p.model(t).Version
			plan := writePlan(t, fmt.Sprintf("crash-%d-%t", last, lost), operator, 2)
			if _, err := life(plan, last, lost, errCrash); !errors.Is(err, errCrash) {
				t.Errorf("call %d: %v", last, err)
			}
			_, err := life(plan, 0, false, nil)
			if got := p.model(t); err != nil || !bytes.Equal(got.Data, want.Data) || got.Version != before+3 {
				t.Errorf("after a crash at call %d, lost %t: %v, %d models to %x, want 3 to %x", last, lost, err, got.Version-before, got.Data, want.Data)
			}
		}
	}
	// A server that goes away when it has opened a round, and comes back, has that round.
	calls, err = life(writePlan(t, "away", operator, 2), 3, true, status.Error(codes.Unavailable, "away"))
	if got := p.model(t); err != nil || calls != 11 || !bytes.Equal(got.Data, want.Data) {
		t.Errorf("a server that was away: %d calls to %x, %v: want another attempt to open the round and a look, to %x", calls, got.Data, err, want.Data)
	}
	if _, err := life(writePlan(t, "never", operator, 2), 1, false, status.Error(codes.Unavailable, "away")); status.Code(err) != codes.Unavailable {
		t.Errorf("a server that has never answered: %v", err)
	}
}
