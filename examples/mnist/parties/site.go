package parties

import (
	"context"
	"errors"
	"io"
	"math"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/trainer"
)

// Site is who holds the rounds of a run. What is not said here is as in [client.Operator].
type Site interface {
	PutModel(ctx context.Context, format string, data []byte) (version uint64, err error)
	OpenRound(ctx context.Context, r fl.Round) (fl.Round, error)
	Estimate(ctx context.Context, roundID string, wait bool) (*fl.Estimate, error)
	PutScalars(ctx context.Context, scalars ...client.Scalar) error
	// Connect returns a new connection for clients, and what they demand and have beside it.
	Connect() (*grpc.ClientConn, client.Options, error)
	// Admit returns what the n clients whose turns are first, first+1, … take part with in the round that was joined, each
	// with its token where the round asks for one.
	Admit(ctx context.Context, joined *client.Participation, first, n int) ([]*client.Participation, error)
	// Send sends a report for each of them, and returns the number of bytes. It calls sent for each report.
	Send(ctx context.Context, parts []*client.Participation, reports [][]byte, sent func()) (int64, error)
	// Close ends the site and closes all connections.
	Close() error
}

// Options say who holds the rounds.
type Options struct {
	// Apart has an issuer, a shuffler and an aggregator in processes of their own. Otherwise there is one
	// server in this process.
	Apart  bool
	Binary string // hushgrad, for processes; empty: it is built
	// Dashboard is the address of the page that shows the server or the aggregator. Port 0 is a free one.
	// Empty: there is no page.
	Dashboard string
	Delta     float64   // at which the page of the one server states central ε
	Log       io.Writer // says what takes long, and the page's URL
}

// Open starts who holds the rounds of a run, and has the page show how often a client takes part by the plan.
func Open(ctx context.Context, run *plan.Run, o Options) (s Site, err error) {
	if o.Apart {
		s, err = openThree(ctx, run, o)
	} else {
		s, err = openOne(run, o)
	}
	if err != nil || run.Spending == nil {
		return s, err
	}
	if err := s.PutScalars(ctx, client.Scalar{Name: client.ReportsOfAClient, Round: 1, Value: float64(run.Spending.Participations(run.Affordable))}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// The series of a run on the page, and lines to compare the accuracy with: a series, a slash and a name.
const (
	testAccuracy   = "test accuracy"
	chance         = testAccuracy + "/chance"
	beforeTraining = testAccuracy + "/before round 1"
	withoutPrivacy = testAccuracy + "/without privacy"
)

// PublishWithoutPrivacy has the site show what as many rounds without privacy reach.
func PublishWithoutPrivacy(ctx context.Context, s Site, accuracy float64) error {
	return s.PutScalars(ctx, client.Scalar{Name: withoutPrivacy, Round: 1, Value: accuracy})
}

// Tested is what a model is measured on, and what its first accuracy was. No client holds a test image.
type Tested struct {
	Images, Classes int
	Before          float64
	Held            int // rounds before the first about gradients
}

// Publish has the site show how a round went. What liars and the alarm by public pictures do is shown where the flags ask for it.
func Publish(ctx context.Context, s Site, p trainer.Progress, accuracy, loss float64, on Tested, of *Flags) error {
	round := p.Round + 1
	scalars := []client.Scalar{
		{Name: testAccuracy, Round: round, Value: accuracy, StdErr: math.Sqrt(accuracy * (1 - accuracy) / float64(on.Images))},
		{Name: "test loss", Round: round, Value: loss},
	}
	if b := of.Liars.backdoor; b != nil {
		scalars = append(scalars, client.Scalar{Name: "marked pictures taken for class 0", Round: round, Value: b.measure(p.Average)})
	}
	if of.PublicAlarm {
		scalars = append(scalars, client.Scalar{Name: "coordinates unlike public pictures", Round: round, Value: float64(len(p.Suspects))})
	}
	if noise := p.Estimate.NoiseNorm; !math.IsNaN(noise) {
		scalars = append(scalars, client.Scalar{Name: "noise norm", Round: round, Value: noise})
	}
	if round == on.Held+1 {
		scalars = append(scalars, client.Scalar{Name: chance, Round: round, Value: 1 / float64(on.Classes)}, client.Scalar{Name: beforeTraining, Round: round, Value: on.Before})
	}
	return s.PutScalars(ctx, scalars...)
}
