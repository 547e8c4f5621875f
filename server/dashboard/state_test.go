package dashboard

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/servertest"
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
		r, err := o.OpenRound(t.Context(), cocoRound(id))
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, report(t, s, r, n)...)
	}
	if err := o.CloseRound(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	if err := o.PutScalars(t.Context(), client.Scalar{Name: "test accuracy", Round: 1, Value: 0.75, StdErr: 0.125}); err != nil {
		t.Fatal(err)
	}
	return s, secrets
}

// report sends n reports twice under one key, and then others under it, which is refused. It returns what nobody else
// is to see.
func report(t *testing.T, s *servertest.Server, r fl.Round, n int) (secrets [][]byte) {
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

// round returns the round with an id.
func (s State) round(id string) Round {
	return s.Rounds[slices.IndexFunc(s.Rounds, func(r Round) bool { return r.ID == id })]
}

func TestTheStateIsThatOfTheServer(t *testing.T) {
	s, _ := trained(t)
	got := state(t, New(s, Config{}))
	closed, open := got.round("first"), got.round("second")
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
	got := state(t, New(s, Config{Public: true}))
	if closed, open := got.round("first"), got.round("second"); closed.Reports != 150 || open.Reports != 5 {
		t.Errorf("%d and %d reports, want 150 and 5", closed.Reports, open.Reports)
	}
	if totals := got.Totals; totals.Accepted != 100 || totals.Duplicates != 100 || totals.Refused["InvalidArgument"] != 2 || len(got.Rates) != 0 || !got.Public {
		t.Errorf("%+v, totals %+v", got, totals)
	}
}

// The shards of a cluster are shown, and on a public page their counts are rounded down.
func TestShardsAreShown(t *testing.T) {
	o := server.Overview{Shards: []server.Shard{
		{Number: 0, Holder: "ABC", Reports: 157, Rejected: 3, Snapshot: time.Unix(1e9, 0), Waiting: 12}, {Number: 1, Reports: 7},
	}}
	for public, want := range map[bool]string{false: "157 3 12 7", true: "100 2 10 5"} {
		got := state(t, New(&source{o: o}, Config{Public: public})).Shards
		if len(got) != 2 || got[0].Holder != "ABC" || got[0].Snapshot == nil || got[1].Snapshot != nil || got[1].Number != 1 {
			t.Fatalf("shards %+v", got)
		}
		if text := fmt.Sprint(got[0].Reports, got[0].Rejected, got[0].Waiting, got[1].Reports); text != want {
			t.Errorf("counts %s, want %s", text, want)
		}
	}
}

// keys adds the names of all fields of a JSON value.
func keys(v any, to map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			to[name] = true
			keys(inner, to)
		}
	case []any:
		for _, inner := range v {
			keys(inner, to)
		}
	}
}

// Nothing of a client is in the state: no report, key or digest in any writing, and no field beyond these.
func TestNothingOfAClientIsInTheState(t *testing.T) {
	s, secrets := trained(t)
	d := New(s, Config{})
	text := get(d, "/state.json").Body.Bytes()
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
	keys(all, names)
	known := strings.Fields(`version time started ready public rounds together totals rates models shards connections series
		id state mechanism dim reports min_reports target_reports epsilon tokens opened ended reports_per_second promise worth
		signal_to_noise below_noise noise_norm accepted duplicates refused rejected sealed token spent report InvalidArgument
		format bytes published clients operator shuffler name points round value std_err composed unknown`)
	for name := range maps.Keys(names) {
		if !slices.Contains(known, name) {
			t.Errorf("the state has a field %s", name)
		}
	}
}

// Rates are kept while reports come, and nothing is added when none do.
func TestRatesAreThoseOfTheReports(t *testing.T) {
	f := newFeed(&source{}, nil)
	at := f.seenAt.AddDate(2000, 0, 0)
	for _, accepted := range []int64{10, 10, 30, 30, 30, 31} {
		f.measure(accepted, at)
		f.measure(accepted+1000, at.Add(sampling/2)) // too early
		at = at.Add(2 * sampling)
	}
	var got []float64
	for _, r := range f.rates {
		got = append(got, r.PerSecond)
	}
	if !slices.Equal(got, []float64{10, 0, 0.5}) {
		t.Errorf("rates %v", got)
	}
	for i := range int64(2 * maxRates) {
		f.measure(100+i, at)
		at = at.Add(sampling)
	}
	if len(f.rates) != maxRates {
		t.Errorf("%d rates", len(f.rates))
	}
}
