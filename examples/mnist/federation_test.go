package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/tiers"
	"github.com/hushgrad/hushgrad/trainer"
)

// running is a started federation whose server has the first model.
func running(t *testing.T, mechanism string, args ...string) *federation {
	t.Helper()
	return runningWith(t, io.Discard, mechanism, args...)
}

// runningWith is running, with a log.
func runningWith(t *testing.T, log io.Writer, mechanism string, args ...string) *federation {
	t.Helper()
	o, model, run, _ := small(t, mechanism, args...)
	data, err := glyphs()
	if err != nil {
		t.Fatal(err)
	}
	clients, err := trainer.NewClients(data.Train.All(), data.Train.Labels, cmp.Or(run.Records, run.Clients), o.seed.Order())
	if err != nil {
		t.Fatal(err)
	}
	f := &federation{run: run, model: model, clients: clients, seed: o.seed, bar: progress.New(io.Discard, ""), liars: o.Liars}
	t.Cleanup(func() {
		if err := f.close(); err != nil {
			t.Error(err)
		}
	})
	if err := f.start(t.Context(), o.Site(o.dashboard.Address, o.request.Delta, log)); err != nil {
		t.Fatal(err)
	}
	var weights bytes.Buffer
	if err := trainer.WriteWeights(&weights, model, model.Init(o.seed.Init())); err != nil {
		t.Fatal(err)
	}
	if _, err := f.PutModel(t.Context(), trainer.WeightsFormat, weights.Bytes()); err != nil {
		t.Fatal(err)
	}
	return f
}

// opened opens a round that the run itself would not.
func (f *federation) opened(t *testing.T, change func(*fl.Round)) string {
	t.Helper()
	r := f.run.Round("r", f.seed.PublicSeed(0))
	change(&r)
	done, err := f.OpenRound(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return done.ID
}

func TestClientsRefuseRoundsBeyondTheirPolicy(t *testing.T) {
	f := running(t, "coco")
	for id, change := range map[string]func(*fl.Round){
		"larger-epsilon": func(r *fl.Round) { r.Epsilon *= 2 },
		"fewer-reports":  func(r *fl.Round) { r.MinReports-- },
		"other-features": func(r *fl.Round) { r.Features = "edges:00" },
	} {
		round := f.opened(t, func(r *fl.Round) { r.ID = id; change(r) })
		if err := f.play(t.Context(), f.players[0], round, 0, 2); !errors.Is(err, fl.ErrPolicy) || f.bytes.Load() != 0 {
			t.Errorf("%s: %d bytes, error %v, want none and ErrPolicy", id, f.bytes.Load(), err)
		}
	}
	round := f.opened(t, func(r *fl.Round) { r.ID = "smaller-epsilon"; r.Epsilon /= 2 })
	if part, err := f.players[0].client.Join(t.Context(), round); err != nil || !strings.HasPrefix(part.Round().Features, "glyphs:") || len(part.Round().Features) != 7+64 {
		t.Errorf("the round says %+v, %v", part, err)
	}
	if err := f.play(t.Context(), f.players[0], round, 0, 2); err != nil || f.bytes.Load() == 0 {
		t.Errorf("a round that promises more: %d bytes, %v", f.bytes.Load(), err)
	}
}

// recorder keeps the reports that go through a connection.
type recorder struct {
	grpc.ClientConnInterface
	mu     sync.Mutex
	packed []byte
}

func (r *recorder) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := r.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	return recorded{ClientStream: s, to: r}, err
}

type recorded struct {
	grpc.ClientStream
	to *recorder
}

func (s recorded) SendMsg(m any) error {
	if req, ok := m.(*service.SubmitReportsRequest); ok {
		s.to.mu.Lock()
		defer s.to.mu.Unlock()
		s.to.packed = append(s.to.packed, req.GetReports()...)
	}
	return s.ClientStream.SendMsg(m)
}

// record makes the last player's reports go through a recorder.
func (f *federation) record(t *testing.T) (*player, *recorder) {
	t.Helper()
	p := f.players[len(f.players)-1]
	to := &recorder{ClientConnInterface: p.conn}
	var err error
	if p.client, err = client.New(to, client.Options{Policy: f.run.Policy()}); err != nil {
		t.Fatal(err)
	}
	return p, to
}

// reports returns what was sent in a round, which is the given number of reports.
func (r *recorder) reports(t *testing.T, p *player, round string, want int) [][]byte {
	t.Helper()
	part, err := p.client.Join(t.Context(), round)
	if err != nil {
		t.Fatal(err)
	}
	reports, err := fl.UnpackReports(part.Mechanism(), r.packed)
	if err != nil || len(reports) != want {
		t.Fatalf("%d reports, %v, want %d", len(reports), err, want)
	}
	return reports
}

// Clients with the same image still draw for themselves: six reports of
// 32-bit seeds have two equal ones by chance with probability below 1e-8, and the
// run is seeded. A client's report depends on its turn and not on the player, and a client
// that takes part again draws anew.
func TestClientsWithEqualDataSendDifferentReports(t *testing.T) {
	f := running(t, "coco")
	image := make([]float64, f.model.Layout()[0].Shape[0])
	image[3] = 1
	var err error
	if f.clients, err = trainer.NewClients(slices.Repeat([][]float64{image}, 900), make([]int, 900), 900, f.seed.Order()); err != nil {
		t.Fatal(err)
	}
	p, to := f.record(t)
	round := f.opened(t, func(*fl.Round) {})
	if err := f.play(t.Context(), p, round, 10, 16); err != nil {
		t.Fatal(err)
	}
	reports := to.reports(t, p, round, 6)
	total := 0
	for i, a := range reports {
		total += len(a)
		for _, b := range reports[:i] {
			if bytes.Equal(a, b) {
				t.Errorf("two clients sent % x", a)
			}
		}
	}
	if f.bytes.Load() != int64(total) {
		t.Errorf("%d bytes are counted, %d were sent", f.bytes.Load(), total)
	}
	if err := errors.Join(f.play(t.Context(), p, round, 12, 13), f.play(t.Context(), p, round, 912, 913)); err != nil {
		t.Fatal(err)
	}
	reports = to.reports(t, p, round, 8)
	if !bytes.Equal(reports[6], reports[2]) {
		t.Errorf("client 12 sent % x alone and % x among others", reports[6], reports[2])
	}
	if bytes.Equal(reports[7], reports[2]) {
		t.Errorf("client 12 sent % x twice", reports[2])
	}
}

// A report is made of the client's gradient with the part taken out that the
// softmax does not see, which leaves room under the clip norm. sumdp clips another norm.
func TestReportsAreMadeOfTheShrunkGradient(t *testing.T) {
	for mechanism, shrunk := range map[string]bool{"coco": true, "none": true, "sumdp": false} {
		f := running(t, mechanism)
		p, to := f.record(t)
		round := f.opened(t, func(*fl.Round) {})
		part, err := p.client.Join(t.Context(), round)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.play(t.Context(), p, round, 2, 5); err != nil {
			t.Fatalf("%s: %v", mechanism, err)
		}
		reports := to.reports(t, p, round, 3)
		differ := 0.
		gradients, err := f.clients.On(f.model, false)
		if err != nil {
			t.Fatal(err)
		}
		defer gradients.Close()
		if err := gradients.Each(t.Context(), f.model.Init(f.seed.Init()), 2, 5, func(turn int, grad []float64) error {
			plain := slices.Clone(grad)
			if err := trainer.ShrinkL1(f.model, grad); err != nil {
				return err
			}
			differ += floats.Distance(plain, grad, 1)
			if !shrunk {
				grad = plain
			}
			want, err := part.Encode(nil, grad, f.seed.Client(turn))
			if got := reports[turn-2]; !bytes.Equal(got, want) {
				t.Errorf("%s: client %d: %d bytes are not the gradient's report, shrunk %t", mechanism, turn, len(got), shrunk)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if differ == 0 {
			t.Error("shrinking makes no difference to these clients")
		}
	}
}

// What a round sends is the reports of the cohort, each of the size that its mechanism
// states.
func TestTrafficIsReportsTimesTheirSize(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	for _, mechanism := range mechanisms {
		f := running(t, mechanism)
		estimate, err := f.Mean(t.Context(), 0, make([]float64, f.model.Dim()))
		if err != nil {
			t.Fatal(err)
		}
		// Reports of sumdp vary; compression takes up to three quarters of them.
		var least, most float64
		if costly, ok := f.run.Opened.(fl.Coster); ok {
			least, most = costly.Cost().Bytes/4, 1.1*costly.Cost().Bytes
		} else {
			least = float64(f.run.Opened.(fl.ReportSizer).ReportBytes())
			most = least
		}
		if size := float64(f.bytes.Load()) / 300; estimate.Reports != 300 || size < least || size > most {
			t.Errorf("%s: %d reports of %g bytes, want 300 of %g to %g", mechanism, estimate.Reports, size, least, most)
		}
	}
}

// Without noise 3 rounds already learn; the loss of a model that learns falls
// below log 10 = 2.303 in every one of them. Integer sums make a private run repeat to the
// last bit, whatever the order in which players finish.
func TestLearningIsVisibleAndRepeatable(t *testing.T) {
	losses := func(mechanism string, args ...string) (out []float64) {
		f := running(t, mechanism, args...)
		data, err := glyphs()
		if err != nil {
			t.Fatal(err)
		}
		test, err := f.model.NewEvaluator(200)
		if err != nil {
			t.Fatal(err)
		}
		defer test.Close()
		if _, err := trainer.Run(t.Context(), f, f.model.Init(f.seed.Init()), trainer.RunConfig{
			Rounds: 3, Steps: trainer.Momentum(4, 0.5, 0.8), // small enough for every step to go down
			After: func(p trainer.Progress) error {
				_, loss, err := test.Evaluate(p.Params, data.Test.All(), data.Test.Labels)
				out = append(out, loss)
				return err
			},
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	plain := losses("none")
	for i, l := range plain {
		if i > 0 && l >= plain[i-1] || l >= 2.303 {
			t.Errorf("losses %v do not fall", plain)
		}
	}
	first, second, other := losses("coco"), losses("coco"), losses("coco", "--seed", "8")
	if first[2] != second[2] || first[2] == other[2] {
		t.Errorf("seed 7 gives %v and %v, seed 8 gives %v", first, second, other)
	}
}

// Clients of one round may differ in their policies. In a round with a menu the server
// counts the reports of each tier, and the weights favour the tiers with a larger ε.
func TestClientsWithDifferentPolicies(t *testing.T) {
	f := running(t, "coco")
	round := f.opened(t, func(r *fl.Round) {
		r.Params = fl.Params{
			tiers.ParamBase: fl.Text(r.Mechanism), tiers.ParamMenu: fl.Text("0.5,2,8"), sparse.ParamSparsity: fl.Int(f.run.Sparsity),
		}
		r.Mechanism, r.Epsilon = tiers.Name, 8
	})
	first := 0
	for epsilon, n := range map[float64]int{0.5: 150, 2: 90, 8: 60} {
		p := *f.players[0]
		var err error
		if p.client, err = client.New(p.conn, client.Options{Policy: fl.Policy{MaxEpsilon: epsilon, MinReports: 300}}); err != nil {
			t.Fatal(err)
		}
		if err := f.play(t.Context(), &p, round, first, first+n); err != nil {
			t.Fatal(err)
		}
		first += n
	}
	e, err := f.Estimate(t.Context(), round, true)
	if err != nil {
		t.Fatal(err)
	}
	if e.Reports != 300 || len(e.Tiers) != 3 || e.Tiers[0].Reports != 150 || e.Tiers[2].Reports != 60 || e.Tiers[2].Weight < e.Tiers[0].Weight ||
		math.Abs(e.Tiers[0].Weight+e.Tiers[1].Weight+e.Tiers[2].Weight-1) > 1e-9 || e.Tiers[1].Guarantee.Epsilon != 2 {
		t.Errorf("%+v", e)
	}
}
