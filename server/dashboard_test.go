package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/dashboard"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
)

// trained is a real server after a round of 150 reports that is closed, one message that was refused, one
// that came twice, a model and a scalar. In a second round that is open there are 7 reports.
func trained(t *testing.T) (s *servertest.Server, secrets [][]byte) {
	t.Helper()
	s, err := servertest.Start(server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	o := s.Operator()
	if _, err := o.PutModel(t.Context(), "application/x-npy", []byte("weights")); err != nil {
		t.Fatal(err)
	}
	for id, n := range map[string]int{"first": 150, "second": 7} {
		wanted := cocoRound(id)
		wanted.MinReports = 100
		r, err := o.OpenRound(t.Context(), wanted)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, reportTwice(t, s, r, n)...)
	}
	if err := o.CloseRound(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	if err := o.PutScalars(t.Context(), client.Scalar{Name: "test accuracy", Round: 1, Value: 0.75, StdErr: 0.125}); err != nil {
		t.Fatal(err)
	}
	return s, secrets
}

// reportTwice sends n reports twice under one key, and then others under it, which is refused. It returns what nobody else
// is to see.
func reportTwice(t *testing.T, s *servertest.Server, r fl.Round, n int) (secrets [][]byte) {
	t.Helper()
	c, err := s.Client(fl.Policy{MaxEpsilon: 2, MinReports: 100})
	if err != nil {
		t.Fatal(err)
	}
	part, err := c.Join(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		one, err := part.Encode(nil, make([]float64, r.Dim), nil)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, one)
	}
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	key := []byte(fmt.Sprintf("key of the batch of %8s", r.ID))
	api := service.NewRoundsClient(s.Conn())
	for i, packed := range [][]byte{bytes.Join(secrets, nil), bytes.Join(secrets, nil), secrets[0]} {
		stream, err := api.SubmitReports(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(&service.SubmitReportsRequest{RoundId: r.ID, RoundDigest: digest[:], BatchKey: key, Reports: packed}); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.CloseAndRecv(); (err == nil) != (i < 2) {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	return append(secrets, key, digest[:], r.PublicSeed[:])
}

// roundIn returns the round with an id.
func roundIn(s dashboard.State, id string) dashboard.Round {
	return s.Rounds[slices.IndexFunc(s.Rounds, func(r dashboard.Round) bool { return r.ID == id })]
}

// stateOf serves a dashboard of a server and returns the state that it shows.
func stateOf(t *testing.T, s *servertest.Server, c server.DashboardConfig) []byte {
	t.Helper()
	return page(t, func() (*server.Server, error) { return s.Parameters(), nil }, c)
}

func page(t *testing.T, of func() (*server.Server, error), c server.DashboardConfig) []byte {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.ServeDashboard(ctx, l, of, c) }()
	resp, err := http.Get("http://" + l.Addr().String() + "/state.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	return text
}

func shown(t *testing.T, s *servertest.Server, c server.DashboardConfig) (state dashboard.State) {
	t.Helper()
	if err := json.Unmarshal(stateOf(t, s, c), &state); err != nil {
		t.Fatal(err)
	}
	return state
}

// Where there is no server, the page says why. Its settings reach the page.
func TestADashboardWithoutAServerSaysWhy(t *testing.T) {
	var got dashboard.State
	text := page(t, func() (*server.Server, error) { return nil, errors.New("another member leads") }, server.DashboardConfig{Void: "this is a test"})
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Ready || got.Problem != "another member leads" || got.Void != "this is a test" || got.Public {
		t.Errorf("%+v", got)
	}
}

func TestTheStateIsThatOfTheServer(t *testing.T) {
	s, _ := trained(t)
	got := shown(t, s, server.DashboardConfig{})
	closed, open := roundIn(got, "first"), roundIn(got, "second")
	if closed.State != "closed" || closed.Reports != 150 || closed.Min != 100 || closed.Ended == nil || *closed.PerSecond <= 0 || closed.Worth == nil || closed.Epsilon != "2" {
		t.Errorf("closed round %+v", closed)
	}
	if w := closed.Worth; w.BelowNoise != (w.SignalToNoise < 1) || w.NoiseNorm <= 0 {
		t.Errorf("worth %+v", w)
	}
	if open.State != "open" || open.Reports != 7 || open.Ended != nil || open.Worth != nil || open.PerSecond != nil {
		t.Errorf("open round %+v", open)
	}
	if totals := got.Totals; totals.Accepted != 157 || totals.Duplicates != 157 || totals.Refused["InvalidArgument"] != 2 || len(totals.Rejected) != 4 {
		t.Errorf("totals %+v", totals)
	}
	if m := got.Models; len(m) != 1 || m[0].Version != 1 || m[0].Bytes != 7 || m[0].Published == nil {
		t.Errorf("models %+v", m)
	}
	if text := fmt.Sprint(got.Series); text != "[{test accuracy [{1 0.75 0.125}]}]" {
		t.Errorf("series %s", text)
	}
	if !got.Ready || got.Public || got.Connections.Operator != 1 {
		t.Errorf("%+v", got)
	}
}

// Others than the operator see of open rounds what clients see, and nothing that changes with each
// report.
func TestAPublicPageRoundsCountsDown(t *testing.T) {
	s, _ := trained(t)
	got := shown(t, s, server.DashboardConfig{Public: true})
	if closed, open := roundIn(got, "first"), roundIn(got, "second"); closed.Reports != 150 || open.Reports != 5 {
		t.Errorf("%d and %d reports, want 150 and 5", closed.Reports, open.Reports)
	}
	if totals := got.Totals; totals.Accepted != 100 || totals.Duplicates != 100 || totals.Refused["InvalidArgument"] != 2 || len(got.Rates) != 0 || !got.Public {
		t.Errorf("%+v, totals %+v", got, totals)
	}
}

// fields adds the names of all fields of a JSON value.
func fields(v any, to map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			to[name] = true
			fields(inner, to)
		}
	case []any:
		for _, inner := range v {
			fields(inner, to)
		}
	}
}

// Nothing of a client is in the state: no report, key or digest in any writing, and no field beyond these.
func TestNothingOfAClientIsInTheState(t *testing.T) {
	s, secrets := trained(t)
	text := stateOf(t, s, server.DashboardConfig{})
	for _, secret := range secrets {
		for _, written := range []string{string(secret), hex.EncodeToString(secret), base64.StdEncoding.EncodeToString(secret), base64.RawURLEncoding.EncodeToString(secret)} {
			if bytes.Contains(text, []byte(written)) {
				t.Errorf("%q is in the state", written)
			}
		}
	}
	var all any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	fields(all, names)
	known := strings.Fields(`version time started ready public rounds together totals rates models shards connections series
		id state mechanism dim reports min_reports target_reports epsilon tokens opened ended reports_per_second promise worth
		signal_to_noise below_noise noise_norm suspects accepted duplicates refused rejected sealed token spent report InvalidArgument
		format bytes published clients operator shuffler name points round value std_err composed fewer unknown`)
	for name := range maps.Keys(names) {
		if !slices.Contains(known, name) {
			t.Errorf("the state has a field %s", name)
		}
	}
}
