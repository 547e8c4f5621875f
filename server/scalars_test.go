package server_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
)

// watched is a running server that can be looked at.
func watched(t *testing.T, cfg server.Config) (*peers, *servertest.Server) {
	t.Helper()
	var s *servertest.Server
	p := meet(t, func() (_ *servertest.Server, err error) { s, err = servertest.Start(cfg); return s, err })
	return p, s
}

func TestScalarsAreKeptByNameAndRound(t *testing.T) {
	p, s := watched(t, server.Config{})
	for _, given := range [][]client.Scalar{
		{{Name: "test loss", Round: 2, Value: 0.5}, {Name: "accuracy", Round: 1, Value: 0.25, StdErr: 0.125}},
		{{Name: "test loss", Round: 1, Value: 1}, {Name: "test loss", Round: 2, Value: 0.25}}, // another value for a round
	} {
		if err := p.operator.PutScalars(t.Context(), given...); err != nil {
			t.Fatal(err)
		}
	}
	got := fmt.Sprint(s.Parameters().Overview().Series)
	if want := "[{accuracy [{1 0.25 0.125}]} {test loss [{1 1 0} {2 0.25 0}]}]"; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
}

func TestBadScalarsAreRefusedAndNothingOfTheCallIsKept(t *testing.T) {
	p, s := watched(t, server.Config{})
	api := service.NewOperatorClient(p.conn)
	good := func() *service.Scalar { return &service.Scalar{Name: "good", Round: 1, Value: 1} }
	for what, c := range map[string]struct {
		change func(*service.Scalar)
		field  string
	}{
		"no name":        {func(s *service.Scalar) { s.Name = "" }, "name"},
		"a long name":    {func(s *service.Scalar) { s.Name = strings.Repeat("x", 65) }, "name"},
		"markup":         {func(s *service.Scalar) { s.Name = "<b>" }, "name"},
		"a control":      {func(s *service.Scalar) { s.Name = "a\x1bb" }, "name"},
		"another script": {func(s *service.Scalar) { s.Name = "aεb" }, "name"},
		"a space before": {func(s *service.Scalar) { s.Name = " a" }, "name"},
		"round 0":        {func(s *service.Scalar) { s.Round = 0 }, "round"},
		"a huge round":   {func(s *service.Scalar) { s.Round = math.MaxUint32 }, "round"},
		"NaN":            {func(s *service.Scalar) { s.Value = math.NaN() }, "value"},
		"-Inf":           {func(s *service.Scalar) { s.Value = math.Inf(-1) }, "value"},
		"NaN error":      {func(s *service.Scalar) { s.StdErr = math.NaN() }, "std_err"},
		"+Inf error":     {func(s *service.Scalar) { s.StdErr = math.Inf(1) }, "std_err"},
		"negative error": {func(s *service.Scalar) { s.StdErr = -1 }, "std_err"},
	} {
		bad := good()
		c.change(bad)
		_, err := api.PutScalars(t.Context(), &service.PutScalarsRequest{Scalars: []*service.Scalar{good(), bad}})
		wantField(t, what, err, codes.InvalidArgument, "scalars[1]."+c.field)
	}
	for what, n := range map[string]int{"none": 0, "33": 33} {
		_, err := api.PutScalars(t.Context(), &service.PutScalarsRequest{Scalars: slices.Repeat([]*service.Scalar{good()}, n)})
		wantField(t, what, err, codes.InvalidArgument, "scalars")
	}
	if kept := s.Parameters().Overview().Series; len(kept) != 0 {
		t.Errorf("kept %v", kept)
	}
	if err := p.operator.PutScalars(t.Context(), client.Scalar{Name: "a", Round: 1<<32 + 1, Value: 1}); err == nil {
		t.Error("the client sent round 2³² + 1 as another one")
	}
}

func TestSeriesAreBounded(t *testing.T) {
	p, s := watched(t, server.Config{})
	for round := 1; round <= 1100; round += 20 {
		var given []client.Scalar
		for i := range 20 {
			given = append(given, client.Scalar{Name: "long", Round: round + i, Value: 1})
		}
		if err := p.operator.PutScalars(t.Context(), given...); err != nil {
			t.Fatal(err)
		}
	}
	if points := s.Parameters().Overview().Series[0].Points; len(points) != 1000 || points[0].Round != 101 || points[999].Round != 1100 {
		t.Errorf("%d points from round %d on", len(points), points[0].Round)
	}
	var names []client.Scalar
	for i := range 31 {
		names = append(names, client.Scalar{Name: fmt.Sprint("n", i), Round: 1, Value: 1})
	}
	if err := p.operator.PutScalars(t.Context(), names...); err != nil {
		t.Fatal(err)
	}
	_, err := service.NewOperatorClient(p.conn).PutScalars(t.Context(), &service.PutScalarsRequest{Scalars: []*service.Scalar{
		{Name: "long", Round: 2000, Value: 7}, {Name: "one too many", Round: 1, Value: 1},
	}})
	wantField(t, "33 names", err, codes.ResourceExhausted, "scalars")
	if kept := s.Parameters().Overview().Series; len(kept) != 32 || kept[0].Points[999].Round != 1100 {
		t.Errorf("%d series, the longest ends at round %d", len(kept), kept[0].Points[999].Round)
	}
}
