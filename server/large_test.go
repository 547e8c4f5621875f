package server_test

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"testing"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// long runs what takes many seconds.
var long = flag.Bool("long", false, "a model of 10^7 parameters, and 200 clients with tokens")

// A model of 10^7 parameters: the model (80 MB of float64) and the estimate (160 MB with standard
// errors) travel in messages below gRPC's default limit, over TCP. Without -long it is one of 10^6,
// which is above that limit, too.
func TestTenMillionParameters(t *testing.T) {
	dim := 1_000_000
	if *long {
		dim = 10_000_000
	}
	s := serveTCP(t, server.Config{})
	roundTrip(t, client.NewOperator(dial(t, s.operator)), dial(t, s.clients), dim)
	s.stop()
	if err := <-s.served; err != nil {
		t.Error(err)
	}
}

func roundTrip(t *testing.T, operator *client.Operator, conn *grpc.ClientConn, dim int) {
	t.Helper()
	c, err := client.New(conn, client.Options{Policy: anything})
	if err != nil {
		t.Fatal(err)
	}
	weights := make([]byte, 8*dim)
	_, _ = rand.NewChaCha8([32]byte{12}).Read(weights)
	if _, err := operator.PutModel(t.Context(), "application/octet-stream", weights); err != nil {
		t.Fatal(err)
	}
	model, err := c.Model(t.Context())
	if err != nil || !bytes.Equal(model.Data, weights) {
		t.Fatalf("the model of %d bytes did not come back: %v", len(weights), err)
	}
	r := cocoRound("large")
	r.Dim, r.MinReports = dim, 1
	if _, err := operator.OpenRound(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	part, err := c.Join(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	report := encode(t, part, 1)
	if _, err := part.Submit(t.Context(), report); err != nil {
		t.Fatal(err)
	}
	if err := operator.CloseRound(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	got, err := operator.Estimate(t.Context(), r.ID, true)
	if err != nil {
		t.Fatal(err)
	}
	want := estimateOf(t, part.Mechanism(), report)
	if got.NoiseNorm != want.NoiseNorm {
		t.Errorf("norm of the noise %g, want %g", got.NoiseNorm, want.NoiseNorm)
	}
	for j, v := range want.Mean().Value {
		if got.Mean().Value[j] != v || got.Mean().StdErr[j] != want.Mean().StdErr[j] {
			t.Fatalf("coordinate %d of %d: %g ± %g, want %g ± %g", j, dim, got.Mean().Value[j], got.Mean().StdErr[j], v, want.Mean().StdErr[j])
		}
	}
}
