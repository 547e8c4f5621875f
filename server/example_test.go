package server_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// toy is a mechanism written outside the module: Warner's randomized response
// on the sign of one randomly chosen coordinate. Its report is the coordinate
// and the answer, 5 bytes.
type toy struct{ round fl.Round }

func init() { fl.Register("toy-warner", toyFactory{}) }

type toyFactory struct{}

func (toyFactory) Open(r fl.Round) (fl.Mechanism, error) {
	if err := r.Params.Only(); err != nil {
		return nil, err
	}
	return toy{round: r}, nil
}

// keep is the probability of the true answer. A product would use integers.
func (m toy) keep() float64 { return 1 / (1 + math.Exp(-m.round.Epsilon)) }

func (m toy) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if len(grad) != m.round.Dim {
		return dst, fl.Invalid("gradient", len(grad), "must have dim = %d coordinates", m.round.Dim)
	}
	j := rng.Uint32N(uint32(m.round.Dim))
	answer := grad[j] > 0
	if rng.Float64() >= m.keep() {
		answer = !answer
	}
	dst = binary.LittleEndian.AppendUint32(dst, j)
	if answer {
		return append(dst, 1), nil
	}
	return append(dst, 0), nil
}

func (m toy) Guarantee() fl.Guarantee {
	return fl.Guarantee{Model: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

func (m toy) NewAggregator() fl.Aggregator {
	return &toyAggregator{toy: m, counts: make([]int64, m.round.Dim)}
}

type toyAggregator struct {
	toy
	reports int64
	counts  []int64 // yes minus no
}

func (a *toyAggregator) Add(report []byte) error {
	if len(report) != 5 || report[4] > 1 || int(binary.LittleEndian.Uint32(report)) >= len(a.counts) {
		return fmt.Errorf("toy: %w: must be a coordinate and 0 or 1", fl.ErrBadReport)
	}
	a.counts[binary.LittleEndian.Uint32(report)] += 2*int64(report[4]) - 1
	a.reports++
	return nil
}

func (a *toyAggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*toyAggregator)
	if !ok {
		return errors.New("toy: merge: another mechanism's aggregator")
	}
	for j, c := range o.counts {
		a.counts[j] += c
	}
	a.reports += o.reports
	return nil
}

func (a *toyAggregator) Estimate() (*fl.Estimate, error) {
	if a.reports == 0 {
		return nil, fl.ErrNoReports
	}
	e := &fl.Estimate{Reports: a.reports, Mechanism: "toy-warner", Guarantee: a.Guarantee()}
	n, d := float64(a.reports), float64(len(a.counts))
	for _, c := range a.counts {
		gain := a.round.Scale * d / (2*a.keep() - 1)
		e.Value = append(e.Value, gain*float64(c)/n)
		e.StdErr = append(e.StdErr, gain/math.Sqrt(n*d))
	}
	return e, nil
}

func (a *toyAggregator) MarshalBinary() ([]byte, error) {
	return binary.Append(nil, binary.LittleEndian, append([]int64{a.reports}, a.counts...))
}

func (a *toyAggregator) UnmarshalBinary(data []byte) error {
	all := make([]int64, 1+len(a.counts))
	if n, err := binary.Decode(data, binary.LittleEndian, all); err != nil || n != len(data) {
		return errors.New("toy: snapshot: wrong length")
	}
	a.reports, a.counts = all[0], all[1:]
	return nil
}

// A mechanism that registers itself runs in the stock server and the stock
// client; neither knows it.
func Example_pluggingInAMechanism() {
	srv, err := server.New(server.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		fmt.Println(err)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, server.Listeners{Clients: listener}) }()

	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fmt.Println(err)
		return
	}
	operator := client.NewOperator(conn)
	if _, err := operator.OpenRound(ctx, fl.Round{
		ID: "signs", Mechanism: "toy-warner", Dim: 2, Scale: 1, Epsilon: 3, MinReports: 1000,
	}); err != nil {
		fmt.Println(err)
		return
	}

	c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: 3, MinReports: 1000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	round, err := c.Join(ctx, "signs")
	if err != nil {
		fmt.Println(err)
		return
	}
	rng := rand.New(rand.NewChaCha8([32]byte{1})) // seeded only because this is an example
	var reports [][]byte
	for range 20_000 {
		report, err := round.Encode(nil, []float64{0.7, -0.2}, rng)
		if err != nil {
			fmt.Println(err)
			return
		}
		reports = append(reports, report)
	}
	receipt, err := round.Submit(ctx, reports)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := operator.CloseRound(ctx, "signs"); err != nil {
		fmt.Println(err)
		return
	}
	estimate, err := operator.Estimate(ctx, "signs", false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d reports under %v\n", receipt.Accepted, estimate.Guarantee)
	fmt.Printf("signs %+.1f %+.1f\n", estimate.Value[0], estimate.Value[1])

	_ = conn.Close()
	stop()
	fmt.Println("server stopped:", <-served)
	// Output:
	// 20000 reports under (ε=3, δ=0)-DP, local model, replace-one
	// signs +1.0 -1.0
	// server stopped: <nil>
}
