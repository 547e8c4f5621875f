package server_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/internal/issuer"
	"github.com/hushgrad/hushgrad/server/journal"
)

// theIssuer is an issuer in this process, one for all tests: a key takes it some tenths of a second.
// Rounds with one id have one key. Their clients are different ones, see issued.
func theIssuer(t testing.TB) *issuer.Issuer {
	t.Helper()
	i, err := newIssuer()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

var newIssuer = sync.OnceValues(func() (*issuer.Issuer, error) {
	return issuer.New(issuer.Config{Journal: journal.NewMemory(), Logger: slog.New(slog.DiscardHandler)})
})

// openAdmitted opens a round that asks for tokens of the issuer.
func openAdmitted(t testing.TB, p *peers, i *issuer.Issuer, r fl.Round) fl.Round {
	t.Helper()
	k, err := i.CreateKey(t.Context(), r.ID, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if r.IssuerKey = k.PublicKey; r.Shuffler != "" {
		r.OuterIssuerKey = k.OuterPublicKey
	}
	return open(t, p, r)
}

// token is a client's token for a round.
func token(t testing.TB, i *issuer.Issuer, name string, r fl.Round) []byte {
	t.Helper()
	token, err := issued(t.Context(), i, name, r)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// issued is token, for goroutines. The issuer knows the client as one of this round alone.
func issued(ctx context.Context, i *issuer.Issuer, name string, r fl.Round) ([]byte, error) {
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	request, err := admit.NewRequest(r.IssuerKey, digest)
	if err != nil {
		return nil, err
	}
	answers, err := i.Issue(ctx, fmt.Sprintf("%s of %x", name, digest), issuer.Message{KeyID: request.KeyID(), Blinded: request.BlindedMessage()})
	if err != nil {
		return nil, err
	}
	return request.Finalize(answers[0])
}

// assigned returns a report of coco with the seed that a token assigns, in the place of its own.
func assigned(report, token []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, admit.Seed(token)), report[4:]...)
}

// admitted is a submission of reports with tokens and the seeds that these assign.
func admitted(t testing.TB, r fl.Round, tokens [][]byte, reports ...[]byte) *service.SubmitReportsRequest {
	t.Helper()
	reports = slices.Clone(reports)
	for i := range min(len(tokens), len(reports)) {
		reports[i] = assigned(reports[i], tokens[i])
	}
	req := request(t, r, 0, reports...)
	req.BatchKey, req.Tokens = nil, bytes.Join(tokens, nil)
	return req
}

func TestTokensAreAskedFor(t *testing.T) {
	p, i := start(t, server.Config{}), theIssuer(t)
	plain, r, other := open(t, p, cocoRound("plain")), openAdmitted(t, p, i, cocoRound("r")), openAdmitted(t, p, i, cocoRound("other"))
	reports := made(t, r, 3)
	good := token(t, i, "anna", r)
	bad := bytes.Clone(good)
	bad[len(bad)-1] ^= 1
	outside := bytes.Repeat([]byte{0xFF}, len(reports[0]))
	mutate := func(m *service.SubmitReportsRequest, f func(*service.SubmitReportsRequest)) *service.SubmitReportsRequest {
		f(m)
		return m
	}
	list := func(tokens ...[]byte) [][]byte { return tokens }
	for name, c := range map[string]struct {
		req   *service.SubmitReportsRequest
		code  codes.Code
		field string
	}{
		"none":                {admitted(t, r, nil, reports[0]), codes.Unauthenticated, "tokens"},
		"a bad one":           {admitted(t, r, list(bad), reports[0]), codes.Unauthenticated, "tokens"},
		"another round's":     {admitted(t, r, list(token(t, i, "anna", other)), reports[0]), codes.Unauthenticated, "tokens"},
		"a cut one":           {admitted(t, r, list(good[1:]), reports[0]), codes.Unauthenticated, "tokens"},
		"one for two":         {admitted(t, r, list(good), reports[:2]...), codes.Unauthenticated, "tokens"},
		"two for one":         {admitted(t, r, list(good, good), reports[0]), codes.Unauthenticated, "tokens"},
		"a bad second one":    {admitted(t, r, list(good, bad), reports[:2]...), codes.Unauthenticated, "tokens"},
		"one token, twice":    {admitted(t, r, list(good, good), reports[:2]...), codes.AlreadyExists, "tokens"},
		"no report":           {admitted(t, r, list(good)), codes.InvalidArgument, "reports"},
		"not a report":        {admitted(t, r, list(good), outside), codes.InvalidArgument, "reports"},
		"a batch key":         {mutate(admitted(t, r, list(good), reports[0]), func(m *service.SubmitReportsRequest) { m.BatchKey = make([]byte, 16) }), codes.InvalidArgument, "batch_key"},
		"where none is asked": {mutate(request(t, plain, 1, reports[0]), func(m *service.SubmitReportsRequest) { m.Tokens = good }), codes.InvalidArgument, "tokens"},
	} {
		_, err := submit(t, p, c.req)
		wantField(t, name, err, c.code, c.field)
	}
	// What was refused has spent nothing.
	if resp, err := submit(t, p, admitted(t, r, list(good), reports[0])); err != nil || resp.GetAccepted() != 1 {
		t.Errorf("the good token: %v, %v", resp, err)
	}
	_, err := submit(t, p, admitted(t, r, list(good), reports[1]))
	wantField(t, "with another report", err, codes.AlreadyExists, "tokens")

	for name, key := range map[string][]byte{"short": {1, 2, 3}, "long": make([]byte, fl.MaxIssuerKeyBytes+1)} {
		broken := cocoRound("broken")
		broken.IssuerKey = key
		_, err := p.rawOperator(t).OpenRound(t.Context(), &service.OpenRoundRequest{Round: broken.Proto()})
		wantField(t, name+" key", err, codes.InvalidArgument, "round.issuer_key")
	}
}

// rawOperator is the operator's API without the module's client.
func (p *peers) rawOperator(t testing.TB) service.OperatorClient {
	t.Helper()
	return service.NewOperatorClient(p.conn)
}

// One attacker with one token is counted once, whatever it sends and however often, at once and
// after a restart, and does not fill a round.
func TestOneAttackerWithOneTokenCountsOnce(t *testing.T) {
	kept := journal.NewMemory()
	cfg := server.Config{Journal: kept}
	p, i := start(t, cfg), theIssuer(t)
	description := cocoRound("r")
	description.TargetReports = 3
	r, other := openAdmitted(t, p, i, description), openAdmitted(t, p, i, cocoRound("other"))
	mine, foreign := token(t, i, "mallory", r), token(t, i, "mallory", other)
	reports := made(t, r, 50)

	var counted atomic.Uint64
	attack := func(rng *rand.Rand, n int) {
		for range n {
			var tokens, chosen [][]byte
			for range 1 + rng.IntN(3) {
				tk := bytes.Clone(mine)
				switch rng.IntN(4) {
				case 0:
					tk[rng.IntN(len(tk))] ^= 1 << rng.IntN(8)
				case 1:
					tk = foreign
				}
				tokens, chosen = append(tokens, tk), append(chosen, reports[rng.IntN(len(reports))])
			}
			resp, err := submit(t, p, admitted(t, r, tokens, chosen...))
			counted.Add(resp.GetAccepted())
			if c := status.Code(err); c != codes.OK && c != codes.Unauthenticated && c != codes.AlreadyExists {
				t.Errorf("unexpected error %v", err)
			}
		}
	}
	for life := range 2 {
		var wg sync.WaitGroup
		for g := range uint64(4) {
			wg.Go(func() { attack(rand.New(rand.NewPCG(g, uint64(life))), 100) })
		}
		wg.Wait()
		if got := counted.Load(); got != 1 {
			t.Fatalf("life %d: %d reports were counted", life, got)
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		p = start(t, cfg)
	}
	err := p.operator.CloseRound(t.Context(), "r")
	wantCode(t, "closing with one token", status.Convert(unwrap(err)).Err(), codes.FailedPrecondition)

	// Honest clients are still let in, and fill the round.
	for n := range 2 {
		resp, err := submit(t, p, admitted(t, r, [][]byte{token(t, i, fmt.Sprint("honest", n), r)}, reports[n]))
		if err != nil || resp.GetAccepted() != 1 {
			t.Fatalf("an honest client: %v, %v", resp, err)
		}
	}
	if e, err := p.operator.Estimate(t.Context(), "r", true); err != nil || e.Reports != 3 {
		t.Errorf("the estimate: %+v, %v, want 3 reports", e, err)
	}
}

// unwrap returns the error below the client's own.
func unwrap(err error) error {
	if inner, ok := err.(interface{ Unwrap() error }); ok {
		return inner.Unwrap()
	}
	return err
}

// made returns n reports of one gradient for a round. Each has another slot than the one before: two reports with the
// seed of one token differ.
func made(t testing.TB, r fl.Round, n int) [][]byte {
	t.Helper()
	m, reports := mechanismOf(t, r), make([][]byte, n)
	for i := range reports {
		var err error
		if reports[i], err = m.Encode(nil, make([]float64, r.Dim), nil); err != nil {
			t.Fatal(err)
		}
		if i > 0 && reports[i][4] == reports[i-1][4] {
			reports[i][4] ^= 1 // the other slot of its pair
		}
	}
	return reports
}

func TestTheSameSubmissionAThousandTimesIsOne(t *testing.T) {
	p, i := start(t, server.Config{}), theIssuer(t)
	r := openAdmitted(t, p, i, cocoRound("r"))
	req := admitted(t, r, [][]byte{token(t, i, "anna", r)}, made(t, r, 1)...)
	var all []*service.SubmitReportsRequest
	for range 500 {
		all = append(all, req)
	}
	var accepted, duplicates uint64
	for range 2 {
		resp, err := submit(t, p, all...)
		if err != nil {
			t.Fatal(err)
		}
		accepted, duplicates = accepted+resp.GetAccepted(), duplicates+resp.GetDuplicates()
	}
	if accepted != 1 || duplicates != 999 {
		t.Errorf("%d accepted and %d duplicates, want 1 and 999", accepted, duplicates)
	}
}

// A batch of many clients, as a shuffler sends it, counts those that are new.
func TestABatchWithTokensCountsEachReportOnItsOwn(t *testing.T) {
	p, i := start(t, server.Config{}), theIssuer(t)
	r := openAdmitted(t, p, i, cocoRound("r"))
	reports, tokens := made(t, r, 6), [][]byte(nil)
	for n := range reports {
		tokens = append(tokens, token(t, i, fmt.Sprint("client", n), r))
		reports[n] = assigned(reports[n], tokens[n])
	}
	for _, c := range []struct{ from, to, accepted, duplicates int }{{0, 3, 3, 0}, {1, 5, 2, 2}, {0, 6, 1, 5}, {0, 6, 0, 6}} {
		resp, err := submit(t, p, admitted(t, r, tokens[c.from:c.to], reports[c.from:c.to]...))
		if err != nil || resp.GetAccepted() != uint64(c.accepted) || resp.GetDuplicates() != uint64(c.duplicates) {
			t.Errorf("clients %d to %d: %v, %v, want %d accepted, %d duplicates", c.from, c.to, resp, err, c.accepted, c.duplicates)
		}
	}
	if err := p.operator.CloseRound(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	got, err := p.operator.Estimate(t.Context(), "r", false)
	if err != nil {
		t.Fatal(err)
	}
	want := estimateOf(t, mechanismOf(t, r), reports)
	for j, v := range got.Mean().Value {
		if v != want.Mean().Value[j] {
			t.Fatalf("coordinate %d: %v, want %v", j, v, want.Mean().Value[j])
		}
	}
}

// mechanismOf builds a round's mechanism.
func mechanismOf(t testing.TB, r fl.Round) fl.Mechanism {
	t.Helper()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A report whose seed is not its token's does not count, by itself and through a shuffler. The error names both seeds. The token is
// still there for the report with its seed.
func TestTheTokenAssignsTheSeed(t *testing.T) {
	p, i := start(t, server.Config{Seal: newKeys(t)}), theIssuer(t)
	for _, mechanism := range []string{"coco", "collision", "signsketch", "privunit", "tiers"} {
		description := cocoRound(mechanism)
		switch description.Mechanism = mechanism; mechanism {
		case "privunit":
			description.Params = nil
		case "tiers":
			description.Params = fl.Params{"base": fl.Text("coco"), "menu": fl.Text("1,2"), "sparsity": fl.Int(4)}
		}
		r := openAdmitted(t, p, i, description)
		m := mechanismOf(t, r).(fl.SeededMechanism)
		tk := token(t, i, "anna", r)
		free := encodeZeros(t, m.WithSeed(admit.Seed(tk)+1), r.Dim)
		// submission is admitted's, with the report as it is.
		submission := func(report []byte) *service.SubmitReportsRequest {
			packed, err := fl.PackReports(m, nil, report)
			if err != nil {
				t.Fatal(err)
			}
			req := request(t, r, 0, packed)
			req.BatchKey, req.Tokens = nil, tk
			return req
		}
		_, err := submit(t, p, submission(free))
		wantField(t, mechanism+", a free seed", err, codes.InvalidArgument, "reports")
		for _, seed := range []uint32{admit.Seed(tk), admit.Seed(tk) + 1} {
			if text := status.Convert(err).Message(); !strings.Contains(text, fmt.Sprint("the seed ", seed)) {
				t.Errorf("%s: %q does not name the seed %d", mechanism, text, seed)
			}
		}
		good := encodeZeros(t, m.WithSeed(admit.Seed(tk)), r.Dim)
		for n := range uint64(2) {
			if resp, err := submit(t, p, submission(good)); err != nil || resp.GetAccepted() != 1-n || resp.GetDuplicates() != n {
				t.Errorf("%s, the token's seed: %v, %v", mechanism, resp, err)
			}
		}
		if mechanism == "tiers" {
			continue // has no shuffler
		}
		description.ID += "-shuffled"
		r = openAdmitted(t, p, i, shuffled(description))
		m = mechanismOf(t, r).(fl.SeededMechanism)
		anna, ben := token(t, i, "anna", r), token(t, i, "ben", r)
		all := sealed(t, r,
			slices.Concat(encodeZeros(t, m.WithSeed(admit.Seed(ben)), r.Dim), anna),
			slices.Concat(encodeZeros(t, m.WithSeed(admit.Seed(anna)), r.Dim), anna),
			slices.Concat(encodeZeros(t, m, r.Dim), ben))
		if rejected, err := forward(t, p, r, all...); err != nil || !slices.Equal(rejected, []uint32{0, 2}) {
			t.Errorf("%s through a shuffler: %v rejected, %v, want [0 2]", mechanism, rejected, err)
		}
	}
}

func encodeZeros(t testing.TB, m fl.Mechanism, dim int) []byte {
	t.Helper()
	report, err := m.Encode(nil, make([]float64, dim), nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
