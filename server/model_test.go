package server_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
)

func TestModelsAreNumberedAndReplaced(t *testing.T) {
	p := start(t, server.Config{})
	for i, text := range []string{"first", "second", "third"} {
		version, err := p.operator.PutModel(t.Context(), strings.Repeat("f", 128), []byte(text))
		if err != nil || version != uint64(i+1) {
			t.Fatalf("%s: version %d, %v, want %d", text, version, err, i+1)
		}
		got, err := p.client.Model(t.Context())
		if err != nil || got.Version != version || string(got.Data) != text || len(got.Format) != 128 {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	// The current model again is the same model, and in another format, or after another one, a new one.
	for _, c := range []struct {
		format, text string
		version      uint64
	}{{strings.Repeat("f", 128), "third", 3}, {"f", "third", 4}, {"f", "second", 5}, {"f", "second", 5}, {"f", "third", 6}} {
		version, err := p.operator.PutModel(t.Context(), c.format, []byte(c.text))
		got, failed := p.client.Model(t.Context())
		if err := errors.Join(err, failed); err != nil || version != c.version || got.Version != c.version || string(got.Data) != c.text {
			t.Errorf("%s in format %.2s again: version %d, %+v, %v, want %d", c.text, c.format, version, got, err, c.version)
		}
	}
	_, err := p.operator.PutModel(t.Context(), strings.Repeat("f", 129), []byte("fourth"))
	if err == nil || !strings.Contains(err.Error(), "must have 1 to 128 bytes") {
		t.Errorf("a format of 129 bytes: %v", err)
	}
	if got, err := p.client.Model(t.Context()); err != nil || got.Version != 6 {
		t.Errorf("after the refusal: %+v, %v, want version 6", got, err)
	}
}

// An upload that is longer than announced is refused before it ends.
func TestAnOverlongModelIsRefusedMidStream(t *testing.T) {
	p := start(t, server.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stream, err := service.NewOperatorClient(p.conn).PutModel(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("weights!"))
	if err := stream.Send(&service.PutModelRequest{
		Header: &service.ModelHeader{Format: "text/plain", Size: 7, Sha256: sum[:]}, Data: []byte("weights!"),
	}); err != nil {
		t.Fatal(err)
	}
	wantField(t, "8 bytes of 7", stream.RecvMsg(new(service.PutModelResponse)), codes.InvalidArgument, "data")
}

func TestModelUploadRefuses(t *testing.T) {
	p := start(t, server.Config{Limits: server.Limits{MaxModelBytes: 100}})
	operator := service.NewOperatorClient(p.conn)
	sum := sha256.Sum256([]byte("weights"))
	good := func() *service.ModelHeader {
		return &service.ModelHeader{Format: "text/plain", Size: 7, Sha256: sum[:]}
	}
	for name, c := range map[string]struct {
		messages []*service.PutModelRequest
		field    string
	}{
		"nothing":       {nil, "header"},
		"no header":     {[]*service.PutModelRequest{{Data: []byte("weights")}}, "header"},
		"no format":     {[]*service.PutModelRequest{{Header: &service.ModelHeader{Size: 7, Sha256: sum[:]}}}, "header.format"},
		"empty":         {[]*service.PutModelRequest{{Header: &service.ModelHeader{Format: "f", Sha256: sum[:]}}}, "header.size"},
		"too large":     {[]*service.PutModelRequest{{Header: &service.ModelHeader{Format: "f", Size: 101, Sha256: sum[:]}}}, "header.size"},
		"short":         {[]*service.PutModelRequest{{Header: good(), Data: []byte("weight")}}, "data"},
		"long":          {[]*service.PutModelRequest{{Header: good(), Data: []byte("weights")}, {Data: []byte("!")}}, "data"},
		"damaged":       {[]*service.PutModelRequest{{Header: good(), Data: []byte("Weights")}}, "header.sha256"},
		"second header": {[]*service.PutModelRequest{{Header: good(), Data: []byte("wei")}, {Header: good(), Data: []byte("ghts")}}, "header"},
	} {
		stream, err := operator.PutModel(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.messages {
			if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		}
		_, err = stream.CloseAndRecv()
		wantField(t, name, err, codes.InvalidArgument, c.field)
	}
	_, err := p.client.Model(t.Context())
	wantCode(t, "no model yet", errors.Unwrap(err), codes.NotFound)
	version, err := p.operator.PutModel(t.Context(), "text/plain", []byte("weights"))
	if err != nil || version != 1 {
		t.Errorf("a good model: version %d, %v", version, err)
	}
}
