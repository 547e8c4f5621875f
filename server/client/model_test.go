package client_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
)

func header(size int, of string) *service.ModelHeader {
	sum := sha256.Sum256([]byte(of))
	return &service.ModelHeader{Version: 3, Format: "text/plain", Size: uint64(size), Sha256: sum[:]}
}

func TestModelRefusesWhatWasNotAnnounced(t *testing.T) {
	for name, c := range map[string]struct {
		messages []*service.GetModelResponse
		good     bool
	}{
		"one message":    {[]*service.GetModelResponse{{Header: header(7, "weights"), Data: []byte("weights")}}, true},
		"three messages": {[]*service.GetModelResponse{{Header: header(7, "weights")}, {Data: []byte("wei")}, {Data: []byte("ghts")}}, true},
		"nothing":        {nil, false},
		"wrong SHA-256":  {[]*service.GetModelResponse{{Header: header(7, "weights"), Data: []byte("Weights")}}, false},
		"no SHA-256":     {[]*service.GetModelResponse{{Header: &service.ModelHeader{Size: 7}, Data: []byte("weights")}}, false},
		"short":          {[]*service.GetModelResponse{{Header: header(7, "weight"), Data: []byte("weight")}}, false},
		"header later":   {[]*service.GetModelResponse{{}, {Header: header(7, "weights"), Data: []byte("weights")}}, false},
	} {
		l := &liar{model: func(send func(*service.GetModelResponse), _ <-chan struct{}) {
			for _, m := range c.messages {
				send(m)
			}
		}}
		m, err := newClient(t, dial(t, l), client.Options{}).Model(t.Context())
		switch {
		case c.good && (err != nil || string(m.Data) != "weights" || m.Version != 3 || m.Format != "text/plain"):
			t.Errorf("%s: got %+v, %v", name, m, err)
		case !c.good && !errors.Is(err, client.ErrIncomplete):
			t.Errorf("%s: got %+v, %v, want ErrIncomplete", name, m, err)
		}
	}
}

// A model that is longer than announced is given up at once: the server that
// sends it need not end.
func TestAnOverlongModelIsGivenUp(t *testing.T) {
	hungUp := make(chan struct{})
	l := &liar{model: func(send func(*service.GetModelResponse), done <-chan struct{}) {
		send(&service.GetModelResponse{Header: header(4, "weights"), Data: []byte("weights")})
		<-done
		close(hungUp)
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	m, err := newClient(t, dial(t, l), client.Options{}).Model(ctx)
	if !errors.Is(err, client.ErrIncomplete) {
		t.Errorf("got %+v, %v, want ErrIncomplete", m, err)
	}
	select {
	case <-hungUp: // the client ended the call, the test's context had not
	case <-ctx.Done():
		t.Error("the client left the stream open")
	}
}
