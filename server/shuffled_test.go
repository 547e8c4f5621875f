package server_test

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

// noTag is in place of the tags of second shares, where these do not matter.
var noTag = make([]byte, seal.TagBytes)

// newKeys returns a server's keys, in a directory of the test.
func newKeys(t testing.TB) *seal.Keys {
	t.Helper()
	keys, err := seal.OpenKeys(filepath.Join(t.TempDir(), "keys"), seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// shuffled is a round with a shuffler that its server completes.
func shuffled(r fl.Round) fl.Round {
	r.Shuffler = "shuffler.example"
	return r
}

// sealed seals each plaintext for a round.
func sealed(t testing.TB, r fl.Round, plaintexts ...[]byte) [][]byte {
	t.Helper()
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := seal.NewSealer(r.SealKey, digest)
	if err != nil {
		t.Fatal(err)
	}
	all := make([][]byte, len(plaintexts))
	for i, p := range plaintexts {
		if all[i], err = sealer.Seal(nil, p); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// forwarding is the message of a shuffler.
func forwarding(t testing.TB, r fl.Round, sealed ...[]byte) *service.ForwardReportsRequest {
	t.Helper()
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	req := &service.ForwardReportsRequest{RoundId: r.ID, RoundDigest: digest[:], Sealed: bytes.Join(sealed, nil)}
	if r.Mechanism == hdsum.SharesName {
		req.ShareTags = bytes.Repeat(noTag, len(sealed))
	}
	return req
}

// forward sends sealed reports and returns the positions of those that do not count.
func forward(t testing.TB, p *peers, r fl.Round, sealed ...[]byte) ([]uint32, error) {
	t.Helper()
	resp, err := service.NewShuffledClient(p.conn).ForwardReports(t.Context(), forwarding(t, r, sealed...))
	return resp.GetRejected(), err
}

// forwardGood is forward for reports that all count.
func forwardGood(t testing.TB, p *peers, r fl.Round, sealed ...[]byte) {
	t.Helper()
	if rejected, err := forward(t, p, r, sealed...); err != nil || len(rejected) > 0 {
		t.Errorf("good reports: %v rejected, %v", rejected, err)
	}
}

// complete says that all reports were forwarded.
func complete(t testing.TB, p *peers, r fl.Round, shareSum []byte) error {
	t.Helper()
	m := forwarding(t, r)
	_, err := service.NewShuffledClient(p.conn).CompleteRound(t.Context(), &service.CompleteRoundRequest{
		RoundId: r.ID, RoundDigest: m.GetRoundDigest(), ShareSum: shareSum,
	})
	return err
}

// Whatever is forwarded again, in other messages, at once and after a restart, is counted once.
func TestForwardedReportsAreCountedExactlyOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	cfg := server.Config{Journal: journal.NewMemory(), Seal: newKeys(t)}
	p := start(t, cfg)
	r := open(t, p, shuffled(cocoRound("r")))
	reports := made(t, r, 2500) // more than are opened together
	all := sealed(t, r, reports...)
	forwardGood(t, p, r, all[:1500]...)
	forwardGood(t, p, r, all[1400:1600]...)
	forwardGood(t, p, r, append(slices.Clone(all[7:9]), all[7], all[8])...)
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	p = start(t, cfg)
	done, again := make(chan struct{}), slices.Clone(all)
	go func() { // as after a connection that was cut in the midst of a call
		defer close(done)
		forwardGood(t, p, r, again...)
	}()
	slices.Reverse(all)
	all[2100] = bytes.Repeat([]byte{7}, len(all[0])) // one that is counted before or after
	if rejected, err := forward(t, p, r, all...); err != nil || !slices.Equal(rejected, []uint32{2100}) {
		t.Errorf("%v rejected, %v, want 2100", rejected, err)
	}
	<-done
	if err := complete(t, p, r, nil); err != nil {
		t.Fatal(err)
	}
	got, err := p.operator.Estimate(t.Context(), "r", false)
	if err != nil {
		t.Fatal(err)
	}
	if want := estimateOf(t, mechanismOf(t, r), reports); !reflect.DeepEqual(got, want) {
		t.Errorf("the estimate of %d reports is %v, want of %d, %v", got.Reports, got.Mean(), want.Reports, want.Mean())
	}
	if err := complete(t, p, r, nil); err != nil {
		t.Errorf("CompleteRound again: %v", err)
	}
	_, err = forward(t, p, r, all[0])
	wantField(t, "a report after the end", err, codes.FailedPrecondition, "round_id")
}

// What cannot count is left out by position, whatever is beside it, and each time alike.
func TestRejectionsAreTheSameEachTime(t *testing.T) {
	cfg := server.Config{Journal: journal.NewMemory(), Seal: newKeys(t)}
	p := start(t, cfg)
	r, other := open(t, p, shuffled(cocoRound("r"))), open(t, p, shuffled(cocoRound("other")))
	reports := made(t, r, 5)
	outside := bytes.Repeat([]byte{0xFF}, len(reports[0]))
	good := sealed(t, r, reports...)
	changed := bytes.Clone(good[4])
	changed[40]++
	message := [][]byte{
		good[0],
		make([]byte, len(good[0])),      // 1: junk
		sealed(t, other, reports[1])[0], // 2: another round's
		sealed(t, r, outside)[0],        // 3: no report
		good[1], good[2], good[1],       // the last one again
		changed,                           // 7: changed on the way
		sealed(t, r, outside)[0], good[3], // 8: no report
	}
	message = append(message, message[3]) // 10: the same again
	want := []uint32{1, 2, 3, 7, 8, 10}
	for i := range 4 {
		if got, err := forward(t, p, r, message...); err != nil || !slices.Equal(got, want) {
			t.Errorf("time %d: %v, %v, want %v rejected", i, got, err, want)
		}
		if i == 1 {
			if err := p.close(); err != nil {
				t.Fatal(err)
			}
			p = start(t, cfg)
		}
	}
	if got, err := forward(t, p, r, message[3], message[1]); err != nil || !slices.Equal(got, []uint32{0, 1}) {
		t.Errorf("bad reports alone: %v, %v", got, err)
	}
	if err := complete(t, p, r, nil); err != nil {
		t.Fatal(err)
	}
	if e, err := p.operator.Estimate(t.Context(), "r", false); err != nil || !reflect.DeepEqual(e, estimateOf(t, mechanismOf(t, r), reports[:4])) {
		t.Errorf("the estimate: %+v, %v, want the estimate of the 4 good reports", e, err)
	}
}

// The token inside the seal admits one sealed report.
func TestATokenInTheSealIsSpentOnce(t *testing.T) {
	cfg := server.Config{Journal: journal.NewMemory(), Seal: newKeys(t)}
	p, i := start(t, cfg), theIssuer(t)
	r, other := openAdmitted(t, p, i, shuffled(cocoRound("r"))), openAdmitted(t, p, i, shuffled(cocoRound("other")))
	reports := made(t, r, 6)
	outside := bytes.Repeat([]byte{0xFF}, len(reports[0]))
	var tokens [][]byte
	for _, name := range []string{"anna", "ben", "carl", "dora"} {
		tokens = append(tokens, token(t, i, name, r))
	}
	with := func(report, token []byte) []byte {
		return sealed(t, r, slices.Concat(assigned(report, token), token))[0]
	}
	bad := bytes.Clone(tokens[1])
	bad[len(bad)-1] ^= 1
	anna, ben := with(reports[0], tokens[0]), with(reports[1], tokens[1])
	carl := with(reports[2], tokens[2])
	for what, c := range map[string]struct {
		message [][]byte
		want    []uint32
	}{
		"three clients":               {[][]byte{anna, ben, carl}, nil},
		"again, and another by anna":  {[][]byte{with(reports[3], tokens[0]), anna, with(reports[0], tokens[0]), ben}, []uint32{0, 2}},
		"no token, a bad, a foreign":  {[][]byte{with(reports[3], make([]byte, len(bad))), with(reports[1], bad), with(reports[3], token(t, i, "x", other))}, []uint32{0, 1, 2}},
		"a bad token on bad reports":  {[][]byte{with(outside, bad)}, []uint32{0}},
		"another report, again, anna": {[][]byte{with(reports[4], tokens[0])}, []uint32{0}},
	} {
		forwardGood(t, p, r, anna, ben, carl)
		for range 2 {
			if got, err := forward(t, p, r, c.message...); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v rejected, %v, want %v", what, got, err, c.want)
			}
		}
	}
	// Of two reports with one token in one message the first counts.
	dora := [][]byte{with(reports[4], tokens[3]), with(reports[5], tokens[3])}
	for range 2 {
		if got, err := forward(t, p, r, dora...); err != nil || !slices.Equal(got, []uint32{1}) {
			t.Errorf("two reports of one client: %v, %v", got, err)
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		p = start(t, cfg)
	}
	if err := complete(t, p, r, nil); err != nil {
		t.Fatal(err)
	}
	want := estimateOf(t, mechanismOf(t, r), [][]byte{
		assigned(reports[0], tokens[0]), assigned(reports[1], tokens[1]), assigned(reports[2], tokens[2]), assigned(reports[4], tokens[3]),
	})
	if e, err := p.operator.Estimate(t.Context(), "r", false); err != nil || !reflect.DeepEqual(e, want) {
		t.Errorf("%+v, %v, want the estimate of 4 reports", e, err)
	}
}

// A report that the mechanism refuses does not spend its token.
func TestARefusedReportLeavesItsToken(t *testing.T) {
	p, i := start(t, server.Config{Seal: newKeys(t)}), theIssuer(t)
	r := openAdmitted(t, p, i, shuffled(cocoRound("r")))
	report, tk := made(t, r, 1)[0], token(t, i, "anna", r)
	all := sealed(t, r, slices.Concat(assigned(bytes.Repeat([]byte{0xFF}, len(report)), tk), tk), slices.Concat(assigned(report, tk), tk))
	for _, message := range [][][]byte{all[:1], {all[0], all[0], all[1], all[0]}, {all[0], all[1]}} {
		var want []uint32
		for i, one := range message {
			if &one[0] == &all[0][0] {
				want = append(want, uint32(i))
			}
		}
		if got, err := forward(t, p, r, message...); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d reports: %v rejected, %v, want %v", len(message), got, err, want)
		}
	}
}

func TestForwardedMessagesAreRefusedWithTheRightCode(t *testing.T) {
	p := start(t, server.Config{Seal: newKeys(t), Limits: server.Limits{MaxMessageBytes: 64 << 10}})
	r, plain := open(t, p, shuffled(cocoRound("r"))), open(t, p, cocoRound("plain"))
	report := made(t, r, 1)[0]
	good := sealed(t, r, report)[0]
	mutate := func(f func(*service.ForwardReportsRequest)) *service.ForwardReportsRequest {
		m := forwarding(t, r, good)
		f(m)
		return m
	}
	for name, c := range map[string]struct {
		req   *service.ForwardReportsRequest
		code  codes.Code
		field string
	}{
		"no round":           {mutate(func(m *service.ForwardReportsRequest) { m.RoundId = "" }), codes.InvalidArgument, "round_id"},
		"unknown round":      {mutate(func(m *service.ForwardReportsRequest) { m.RoundId = "x" }), codes.NotFound, "round_id"},
		"no digest":          {mutate(func(m *service.ForwardReportsRequest) { m.RoundDigest = nil }), codes.InvalidArgument, "round_digest"},
		"another digest":     {mutate(func(m *service.ForwardReportsRequest) { m.RoundDigest[0]++ }), codes.FailedPrecondition, "round_digest"},
		"no shuffler":        {forwarding(t, plain, good), codes.FailedPrecondition, "round_id"},
		"nothing":            {forwarding(t, r), codes.InvalidArgument, "sealed"},
		"a part of a report": {forwarding(t, r, good, good[1:]), codes.InvalidArgument, "sealed"},
	} {
		_, err := service.NewShuffledClient(p.conn).ForwardReports(t.Context(), c.req)
		wantField(t, name, err, c.code, c.field)
	}
	_, err := submit(t, p, request(t, r, 1, report))
	wantField(t, "a report from a client", err, codes.FailedPrecondition, "round_id")
	if !strings.Contains(err.Error(), r.Shuffler) {
		t.Errorf("%v does not name the shuffler", err)
	}
	wantField(t, "completing a round without a shuffler", complete(t, p, plain, nil), codes.FailedPrecondition, "round_id")
	wantField(t, "a share sum where there are no shares", complete(t, p, r, []byte{1}), codes.InvalidArgument, "share_sum")
	if e, err := p.rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"}); err != nil || e.GetStatus().GetReports() != 0 {
		t.Errorf("after refusals only: %v, %v", e, err)
	}
}
