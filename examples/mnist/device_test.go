package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/trainer"
)

// running starts a federation and publishes its model.
func running(t *testing.T, c config, train *dataset.Set) *federation {
	t.Helper()
	model, err := c.modelOn(train)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFederation(c, model, train)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.close(); err != nil {
			t.Error(err)
		}
	})
	var weights bytes.Buffer
	if err := trainer.WriteWeights(&weights, model, f.params); err != nil {
		t.Fatal(err)
	}
	if _, err := f.operator.PutModel(t.Context(), trainer.WeightsFormat, weights.Bytes()); err != nil {
		t.Fatal(err)
	}
	return f
}

// opened opens a round that the run itself would not.
func opened(t *testing.T, f *federation, mutate func(*fl.Round)) string {
	t.Helper()
	r := f.cfg.round(0, f.model.Dim())
	mutate(&r)
	done, err := f.operator.OpenRound(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return done.ID
}

func TestDevicesRefuseRoundsBeyondTheirPolicy(t *testing.T) {
	c, data := small(t, "coco")
	f := running(t, c, data.Train)
	for id, mutate := range map[string]func(*fl.Round){
		"larger-epsilon": func(r *fl.Round) { r.Epsilon *= 2 },
		"fewer-reports":  func(r *fl.Round) { r.MinReports-- },
	} {
		round := opened(t, f, func(r *fl.Round) { r.ID = id; mutate(r) })
		sent, err := f.devices[0].takePart(t.Context(), round, 0, 0, 2, func() {})
		if !errors.Is(err, fl.ErrPolicy) || sent != (traffic{}) {
			t.Errorf("%s: sent %+v, error %v, want nothing and ErrPolicy", id, sent, err)
		}
	}
	round := opened(t, f, func(r *fl.Round) { r.ID = "smaller-epsilon"; r.Epsilon /= 2 })
	if sent, err := f.devices[0].takePart(t.Context(), round, 0, 0, 2, func() {}); err != nil || sent.reports != 2 {
		t.Errorf("a round that promises more: sent %+v, %v", sent, err)
	}
}

// recorder keeps the reports that go through a connection.
type recorder struct {
	grpc.ClientConnInterface
	mu      sync.Mutex
	reports [][]byte
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
		s.to.reports = append(s.to.reports, req.GetReports()...)
	}
	return s.ClientStream.SendMsg(m)
}

// Clients who hold the same image still draw for themselves: six reports of
// 32-bit seeds have two equal ones by chance with probability below 1e-8, and the
// run is seeded. A client's report depends on who it is and not on the device.
func TestClientsWithEqualDataSendDifferentReports(t *testing.T) {
	c, data := small(t, "coco")
	f := running(t, c, data.Train)
	for i := range f.people.order {
		f.people.order[i] = 0
	}
	to := &recorder{ClientConnInterface: f.conns[len(f.conns)-1]}
	d := f.devices[len(f.devices)-1]
	var err error
	if d.clients[0], err = client.New(to, client.Options{Policy: fl.Policy{MaxEpsilon: c.epsilon, MinReports: c.cohort}}); err != nil {
		t.Fatal(err)
	}
	round := opened(t, f, func(*fl.Round) {})
	calls := 0
	sent, err := d.takePart(t.Context(), round, 0, 10, 16, func() { calls++ })
	if err != nil || sent.reports != 6 || calls != 6 || len(to.reports) != 6 {
		t.Fatalf("sent %+v (%d recorded, %d clients done), %v, want 6", sent, len(to.reports), calls, err)
	}
	total := 0
	for i, a := range to.reports {
		total += len(a)
		for _, b := range to.reports[:i] {
			if bytes.Equal(a, b) {
				t.Errorf("two clients sent % x", a)
			}
		}
	}
	if sent.bytes != int64(total) {
		t.Errorf("%d bytes are counted, %d were sent", sent.bytes, total)
	}
	if _, err := d.takePart(t.Context(), round, 0, 12, 13, func() {}); err != nil || !bytes.Equal(to.reports[6], to.reports[2]) {
		t.Errorf("client 12 sent % x alone and % x among others, %v", to.reports[6:], to.reports[2], err)
	}
}

// A report is made of the client's gradient with the part taken out that the
// softmax does not see, which leaves room under the clip norm.
func TestReportsAreMadeOfTheShrunkGradient(t *testing.T) {
	c, data := small(t, "coco")
	f := running(t, c, data.Train)
	d := f.devices[0]
	round := opened(t, f, func(*fl.Round) {})
	part, err := d.clients[0].Join(t.Context(), round)
	if err != nil {
		t.Fatal(err)
	}
	to := &recorder{ClientConnInterface: f.conns[len(f.conns)-1]}
	if d.clients[0], err = client.New(to, client.Options{Policy: fl.Policy{MaxEpsilon: c.epsilon, MinReports: c.cohort}}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.takePart(t.Context(), round, 0, 2, 5, func() {}); err != nil || len(to.reports) != 3 {
		t.Fatalf("%d reports, %v", len(to.reports), err)
	}
	worker, err := f.model.NewWorker(1)
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	differ := 0.
	for id := 2; id < 5; id++ {
		x, y := f.people.examples(id, nil, nil)
		plain := make([]float64, f.model.Dim())
		if _, err := worker.Gradient(plain, f.params, x, y); err != nil {
			t.Fatal(err)
		}
		shrunk := slices.Clone(plain)
		if err := trainer.ShrinkL1(f.model, shrunk); err != nil {
			t.Fatal(err)
		}
		want, err := part.Encode(nil, shrunk, c.stream(forClient, uint64(id)))
		if got := to.reports[id-2]; err != nil || !bytes.Equal(got, want) {
			t.Errorf("client %d: report % x, want % x of the shrunk gradient, %v", id, got, want, err)
		}
		differ += floats.Distance(plain, shrunk, 1)
	}
	if differ == 0 {
		t.Error("shrinking makes no difference to these clients")
	}
}

// The gradient of a client with several images is the mean of theirs, shrunk.
func TestAClientsGradientIsThatOfItsImages(t *testing.T) {
	c, data := small(t, "coco")
	c.clients = 300 // three images each
	f := running(t, c, data.Train)
	d := f.devices[0]
	x, y := f.people.examples(7, nil, nil)
	if len(x) != 3 {
		t.Fatalf("%d images, want 3", len(x))
	}
	if _, err := d.examples.Run(f.params, x, y); err != nil {
		t.Fatal(err)
	}
	if err := d.gradient(0); err != nil {
		t.Fatal(err)
	}
	worker, err := f.model.NewWorker(3)
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	want := make([]float64, f.model.Dim())
	if _, err := worker.Gradient(want, f.params, x, y); err != nil {
		t.Fatal(err)
	}
	if err := trainer.ShrinkL1(f.model, want); err != nil {
		t.Fatal(err)
	}
	if !floats.EqualApprox(d.grad, want, 1e-12) {
		t.Error("the gradient is not the shrunk mean")
	}
}

// What a round says it sent is the reports of the cohort, each of the size that
// its mechanism states.
func TestTrafficIsReportsTimesTheirSize(t *testing.T) {
	for _, mechanism := range mechanisms {
		c, data := small(t, mechanism)
		f := running(t, c, data.Train)
		r, err := fl.Complete(c.round(0, f.model.Dim()))
		if err != nil {
			t.Fatal(err)
		}
		m, err := fl.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		var calls atomic.Int64
		estimate, sent, err := f.round(t.Context(), 0, func() { calls.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		// Reports of sumdp vary; compression takes up to three quarters of them.
		var least, most float64
		if costly, ok := m.(fl.Coster); ok {
			least, most = costly.Cost().Bytes/4, 1.1*costly.Cost().Bytes
		} else {
			least = float64(m.(fl.ReportSizer).ReportBytes())
			most = least
		}
		size := float64(sent.bytes) / float64(c.cohort)
		if want := int64(c.cohort); sent.reports != want || estimate.Reports != want || size < least || size > most {
			t.Errorf("%s: sent %+v, counted %d, want %d reports of %g to %g bytes", mechanism, sent, estimate.Reports, want, least, most)
		}
		if done := int(calls.Load()); done != c.cohort {
			t.Errorf("%s: %d clients were done, want %d", mechanism, done, c.cohort)
		}
	}
}
