package shuffler

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal"
)

func TestConfigsAreRefused(t *testing.T) {
	server := newRecorder().serve(t)
	good := func(change func(*Config)) Config {
		c := Config{Name: testName, Upstream: server, Journal: journal.NewMemory()}
		change(&c)
		return c
	}
	for param, cfg := range map[string]Config{
		"Name":         good(func(c *Config) { c.Name = "Not a host" }),
		"Upstream":     good(func(c *Config) { c.Upstream = nil }),
		"Journal":      good(func(c *Config) { c.Journal = nil }),
		"Floor":        good(func(c *Config) { c.Floor = -1 }),
		"MaxRounds":    good(func(c *Config) { c.MaxRounds = -1 }),
		"MaxDim":       good(func(c *Config) { c.MaxDim = fl.MaxDim + 1 }),
		"ForwardBytes": good(func(c *Config) { c.ForwardBytes = -1 }),
	} {
		var p *fl.ParamError
		if _, err := New(cfg); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	var p *fl.ParamError
	if _, err := New(Config{}); !errors.As(err, &p) || p.Param != "Name" {
		t.Errorf("no name: %v", err)
	}
}

// fieldOf returns the request field that a status names.
func fieldOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			return bad.GetFieldViolations()[0].GetField()
		}
	}
	return ""
}

func TestMessagesAreRefused(t *testing.T) {
	recorded := newRecorder()
	p := start(t, Config{MaxRounds: 2, Limits: server.Limits{MaxDim: 64}}, recorded)
	r := newSealedRound(t, nil)
	recorded.open(r.Round)
	named := func(id string, change func(*fl.Round)) *sealedRound {
		other := newSealedRound(t, func(r *fl.Round) {
			r.ID = id
			if change != nil {
				change(r)
			}
		})
		recorded.open(other.Round)
		return other
	}
	elsewhere := named("elsewhere", func(r *fl.Round) { r.Shuffler = "another.test" })
	large := named("large", func(r *fl.Round) { r.Dim = 65 })
	ended := named("ended", nil)
	recorded.end("ended", service.RoundState_ROUND_STATE_CLOSED)
	items := r.items(t, 1)
	long := append(bytes.Clone(items[0]), 0)
	for what, c := range map[string]struct {
		round  *sealedRound
		change func(*service.SubmitReportsRequest)
		code   codes.Code
		field  string
	}{
		"no id":             {r, func(m *service.SubmitReportsRequest) { m.RoundId = "" }, codes.InvalidArgument, "round_id"},
		"a bad id":          {r, func(m *service.SubmitReportsRequest) { m.RoundId = "a/b" }, codes.InvalidArgument, "round_id"},
		"an unknown id":     {r, func(m *service.SubmitReportsRequest) { m.RoundId = "x" }, codes.NotFound, "round_id"},
		"a batch key":       {r, func(m *service.SubmitReportsRequest) { m.BatchKey = make([]byte, 16) }, codes.InvalidArgument, "batch_key"},
		"tokens":            {r, func(m *service.SubmitReportsRequest) { m.Tokens = []byte{1} }, codes.InvalidArgument, "tokens"},
		"a short digest":    {r, func(m *service.SubmitReportsRequest) { m.RoundDigest = m.RoundDigest[1:] }, codes.InvalidArgument, "round_digest"},
		"another digest":    {r, func(m *service.SubmitReportsRequest) { m.RoundDigest = make([]byte, 32) }, codes.FailedPrecondition, "round_digest"},
		"no reports":        {r, func(m *service.SubmitReportsRequest) { m.Reports = nil }, codes.InvalidArgument, "reports"},
		"a longer report":   {r, func(m *service.SubmitReportsRequest) { m.Reports = long }, codes.InvalidArgument, "reports"},
		"another shuffler":  {elsewhere, nil, codes.FailedPrecondition, "shuffler"},
		"too many numbers":  {large, nil, codes.FailedPrecondition, "dim"},
		"a round that ends": {ended, nil, codes.FailedPrecondition, "round_id"},
	} {
		req := &service.SubmitReportsRequest{RoundId: c.round.ID, RoundDigest: bytes.Clone(c.round.digest[:]), Reports: items[0]}
		if c.change != nil {
			c.change(req)
		}
		got, err := sendTo(t.Context(), p.clients, req)
		if status.Code(err) != c.code || fieldOf(err) != c.field {
			t.Errorf("%s: %v, %v, want %v for %s", what, got, err, c.code, c.field)
		}
	}
	p.keeps(t, r, 1, 0, items...)
	second, third := named("second", nil), named("third", nil)
	p.keeps(t, second, 1, 0, second.items(t, 1)...)
	p.refuses(t, "a round too many", codes.ResourceExhausted, third, third.items(t, 1)...)
}

// A round whose union of messages the guarantee is about is not for a shuffler of reports.
func TestRoundsThatPermutationDoesNotProtectAreRefused(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{}, server)
	r, _, err := fl.Complete(fl.Round{
		ID: "r", Mechanism: hdsum.Name, Dim: 4, Scale: 1, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne, MinReports: 100,
		PublicSeed: [32]byte{1}, Shuffler: testName, SealKey: newSealedRound(t, nil).SealKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	server.open(r)
	if _, err := p.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"}); fieldOf(err) != "mechanism" {
		t.Errorf("%v, want an error about the mechanism", err)
	}
}

// Clients see the round, that it is open, and about how many reports there are. They do not see
// times, or the server's count.
func TestClientsSeeTheRoundAndARoughCount(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{}, server)
	r := newSealedRound(t, nil)
	server.open(r.Round)
	server.with(func() {
		st := server.status["r"]
		st.Opened, st.Reports, st.Closing = timestamppb.Now(), 17, false
		server.status[""] = st
	})
	p.keeps(t, r, 4, 0, r.items(t, 4)...)
	for _, id := range []string{"", "r"} {
		resp, err := p.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: id})
		if err != nil {
			t.Fatal(err)
		}
		st := resp.GetStatus()
		got, err := fl.RoundFromProto(st.GetRound())
		if err != nil || !got.Equal(r.Round) || st.GetReports() != 2 || st.GetState() != service.RoundState_ROUND_STATE_OPEN || st.GetOpened() != nil || st.GetClosing() {
			t.Errorf("%q: %v, %v", id, st, err)
		}
	}
	_, err := p.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "x"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("an unknown round: %v", err)
	}
}

// The server is asked about a round once in a while, however many clients ask, and cannot show
// another description of it afterwards: neither to those who ask, nor to those who were told it
// elsewhere.
func TestARoundHasOneDescription(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{Secrets: t.TempDir()}, server)
	first, second := newSealedRound(t, nil), newSealedRound(t, func(r *fl.Round) { r.Epsilon = 2 })
	server.open(first.Round)
	get := func() (*service.GetRoundResponse, error) {
		return p.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
	}
	if _, err := get(); err != nil {
		t.Fatal(err)
	}
	server.open(second.Round)
	for range 2 {
		eventually(t, "the refusal", func() bool {
			_, err := get()
			return status.Code(err) == codes.FailedPrecondition && fieldOf(err) == "round_digest"
		})
		p.refuses(t, "the other description", codes.FailedPrecondition, second, second.items(t, 1)...)
		p.keeps(t, first, 1, 0, first.items(t, 1)...)
		p = p.again(t)
	}
}

func TestTheServerIsAskedOncePerInterval(t *testing.T) {
	server := newRecorder()
	u := newUpstream(server.serve(t), time.Hour)
	r := newSealedRound(t, nil)
	server.open(r.Round)
	for i := range 3 * maxAnswers {
		if _, err := u.round(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		if _, err := u.round(t.Context(), "unknown"); !errors.Is(err, errNotFound) {
			t.Fatal(err)
		}
		if asked := server.askedNow(); i%maxAnswers == 0 && asked != 2 {
			t.Errorf("the server was asked %d times", asked)
		}
	}
	for i := range 2 * maxAnswers {
		_, _ = u.round(t.Context(), strings.Repeat("x", 1+i))
	}
	if n := len(u.answers); n > maxAnswers {
		t.Errorf("%d answers are remembered", n)
	}
}

// While the server is away, clients are served in the rounds that the shuffler knows.
func TestReportsAreKeptWhileTheServerIsAway(t *testing.T) {
	server := newRecorder()
	w := tap(t, server)
	conn := w.dial(t)
	p := start(t, Config{Upstream: conn}, server)
	r := newSealedRound(t, nil)
	server.open(r.Round)
	p.keeps(t, r, 1, 0, r.items(t, 1)...)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is away", func() bool {
		_, err := p.upstream.round(context.Background(), "r")
		return errors.Is(err, errNoServer)
	})
	p.keeps(t, r, 1, 0, r.items(t, 1)...)
	if resp, err := p.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"}); err != nil || resp.GetStatus().GetReports() != 2 {
		t.Errorf("%v, %v", resp, err)
	}
	if err := p.Ready(); err != nil {
		t.Errorf("the shuffler keeps reports and is not ready: %v", err)
	}
}
