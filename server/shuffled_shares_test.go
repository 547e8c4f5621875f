package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

// sharesRound is a small round of two servers.
func sharesRound(id string) fl.Round {
	return shuffled(fl.Round{
		ID: id, Mechanism: hdsum.SharesName, Dim: 20, Scale: 1, Epsilon: 4, Delta: 1e-6, MinReports: 3, ShareKey: secondKey().Public(),
	})
}

// secondKey is the second server's key.
var secondKey = sync.OnceValue(func() *seal.Key {
	key, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		panic(err)
	}
	return key
})

// released is what the second server releases for sealed reports with these shares.
func released(t testing.TB, m fl.SharedMechanism, sealed, second [][]byte) []byte {
	t.Helper()
	sum, err := m.NewShareAggregator(fl.SecondServer)
	if err != nil {
		t.Fatal(err)
	}
	for i, share := range second {
		id := seal.ID(sealed[i])
		if err := sum.Add(id[:], share); err != nil {
			t.Fatal(err)
		}
	}
	data, err := sum.Release(nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Six sites send the sums of 1 to 6 records each: the mean is over 21 records, and the estimate says so on its way to an
// operator. Each coordinate is within 7 standard errors, or the noise has failed with a probability below 1e-10.
func TestSitesSendSumsOfTheirRecords(t *testing.T) {
	p := start(t, server.Config{Seal: newKeys(t)})
	r := sharesRound("records")
	r.Params = fl.Params{fl.ParamRecords: fl.Int(100)}
	r = open(t, p, r)
	m := mechanismOf(t, r).(fl.SharedMechanism)
	var plain, second [][]byte
	want := make([]float64, r.Dim)
	for n := range 6 {
		sum, err := m.(fl.RecordMechanism).NewRecordSum(nil)
		if err != nil {
			t.Fatal(err)
		}
		for range n + 1 {
			grad := make([]float64, r.Dim)
			grad[n] = 0.7
			if err := sum.Add(grad); err != nil {
				t.Fatal(err)
			}
			want[n] += 0.7 / 21
		}
		report, err := sum.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		first := m.ShareBytes(fl.FirstServer)
		plain, second = append(plain, append(report[:first:first], noTag...)), append(second, report[first:])
	}
	all := sealed(t, r, plain...)
	forwardGood(t, p, r, all...)
	if err := complete(t, p, r, released(t, m, all, second)); err != nil {
		t.Fatal(err)
	}
	got, err := p.operator.Estimate(t.Context(), r.ID, false)
	if err != nil || got.Reports != 6 || got.Records != 21 {
		t.Fatalf("%+v, %v, want 21 records in 6 reports", got, err)
	}
	for j, v := range got.Mean().Value {
		if se := got.Mean().StdErr[j]; !(math.Abs(v-want[j]) <= 7*se) {
			t.Errorf("coordinate %d: %g ± %g, want %g", j, v, se, want[j])
		}
	}
}

// Through restarts and repetitions two servers release what one curator does who has all shares, and
// only if both have added the same ones.
func TestTwoServersReleaseTheEstimateOfACurator(t *testing.T) {
	cfg := server.Config{Journal: journal.NewMemory(), Seal: newKeys(t), Releases: t.TempDir()}
	p, i := start(t, cfg), theIssuer(t)
	for _, r := range []fl.Round{open(t, p, sharesRound("plain")), openAdmitted(t, p, i, sharesRound("admitted"))} {
		m := mechanismOf(t, r).(fl.SharedMechanism)
		var whole, plain, second [][]byte
		for n := range 6 {
			grad := make([]float64, r.Dim)
			grad[n] = 0.7
			a, b, err := m.EncodeShares(nil, nil, grad, nil)
			if err != nil {
				t.Fatal(err)
			}
			whole, second = append(whole, slices.Concat(a, b)), append(second, b)
			a = append(a, noTag...)
			if len(r.IssuerKey) > 0 {
				a = append(a, token(t, i, string(rune('a'+n)), r)...)
			}
			plain = append(plain, a)
		}
		all := sealed(t, r, plain...)
		junk := bytes.Repeat([]byte{7}, len(all[0]))
		forwardGood(t, p, r, all[:3]...)
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		p = start(t, cfg)
		if rejected, err := forward(t, p, r, append([][]byte{junk}, all[1:5]...)...); err != nil || !slices.Equal(rejected, []uint32{0}) {
			t.Errorf("%v, %v", rejected, err)
		}
		right := released(t, m, all[:5], second[:5])
		others := slices.Clone(all)
		others[0] = all[5]
		for what, c := range map[string]struct {
			sum  []byte
			code codes.Code
		}{
			"a share is missing":     {released(t, m, all[:4], second[:4]), codes.FailedPrecondition},
			"a share too many":       {released(t, m, all, second), codes.FailedPrecondition},
			"a share of another":     {released(t, m, others[:5], second[:5]), codes.FailedPrecondition},
			"a share twice":          {released(t, m, append(others[1:5:5], all[1]), append(second[1:5:5], second[1])), codes.FailedPrecondition},
			"nothing":                {nil, codes.InvalidArgument},
			"a part":                 {right[:len(right)-1], codes.InvalidArgument},
			"the first server's sum": {all[0], codes.InvalidArgument},
		} {
			wantField(t, what, complete(t, p, r, c.sum), c.code, "share_sum")
			if s := state(t, p, r.ID); s != service.RoundState_ROUND_STATE_OPEN {
				t.Fatalf("%s: the round is %v", what, s)
			}
		}
		for range 2 {
			if err := complete(t, p, r, right); err != nil {
				t.Errorf("the right sum: %v", err)
			}
		}
		got, err := p.operator.Estimate(t.Context(), r.ID, false)
		want := estimateOf(t, m, whole[:5])
		if err != nil || got.Reports != 5 || got.Guarantee != want.Guarantee {
			t.Fatalf("%s: %+v, %v, want %+v", r.ID, got, err, want)
		}
		equal := 0 // both have noise of their own, on one grid: one coordinate may be equal by chance, half of them not
		for j, v := range got.Mean().Value {
			se := want.Mean().StdErr[j]
			if got.Mean().StdErr[j] != se || !(math.Abs(v-want.Mean().Value[j]) <= 7*math.Sqrt2*se) {
				t.Errorf("%s, coordinate %d: %g ± %g, a curator has %g", r.ID, j, v, got.Mean().StdErr[j], want.Mean().Value[j])
			}
			if v == want.Mean().Value[j] {
				equal++
			}
		}
		if equal > int(r.Dim)/2 {
			t.Errorf("%s: %d of %d coordinates equal a curator's, whose noise is another", r.ID, equal, r.Dim)
		}
	}
}

// In a round with proofs a message has a preparation share for each report, and a key. Zeros in their place have the report rejected.
func TestAMessageHasAPreparationShareForEachReport(t *testing.T) {
	p := start(t, server.Config{Seal: newKeys(t)})
	r := sharesRound("r")
	r.Params = fl.Params{hdsum.ParamProof: fl.Text(hdsum.ProofPrio3)}
	r = open(t, p, r)
	m := mechanismOf(t, r).(fl.ProvedMechanism)
	first, _, err := m.EncodeShares(nil, nil, make([]float64, r.Dim), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := sealed(t, r, append(first, noTag...))
	for field, change := range map[string]func(req *service.ForwardReportsRequest){
		"prep_shares": func(req *service.ForwardReportsRequest) { req.PrepShares = req.PrepShares[1:] },
		"verify_key":  func(req *service.ForwardReportsRequest) { req.VerifyKey = req.VerifyKey[1:] },
		"":            func(*service.ForwardReportsRequest) {},
	} {
		req := forwarding(t, r, all...)
		req.PrepShares, req.VerifyKey = make([]byte, m.PrepShareBytes()), make([]byte, len(fl.VerifyKey{}))
		change(req)
		resp, err := service.NewShuffledClient(p.conn).ForwardReports(t.Context(), req)
		if field != "" {
			wantField(t, field, err, codes.InvalidArgument, field)
		} else if err != nil || !slices.Equal(resp.GetRejected(), []uint32{0}) {
			t.Errorf("%v, %v, want the report rejected", resp.GetRejected(), err)
		}
	}
	req := forwarding(t, r, all...)
	r = open(t, p, sharesRound("other"))
	req.RoundId, req.RoundDigest, req.PrepShares = r.ID, forwarding(t, r).GetRoundDigest(), []byte{1}
	_, err = service.NewShuffledClient(p.conn).ForwardReports(t.Context(), req)
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("preparation shares of a round without proofs: %v", err)
	}
}

// A report counts only with the tag of its own second share, and a message has a tag for each report.
func TestASecondShareIsTheOneOfItsReport(t *testing.T) {
	logged := &bytes.Buffer{}
	p := start(t, server.Config{Seal: newKeys(t), Logger: slog.New(slog.NewTextHandler(logged, nil))})
	r := open(t, p, sharesRound("r"))
	m := mechanismOf(t, r)
	sealer, err := seal.NewItemSealer(r, m)
	if err != nil {
		t.Fatal(err)
	}
	format := sealer.Format()
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	opener := secondKey().NewShareOpener(format, digest)
	req := forwarding(t, r)
	var ids []string
	for n := range 3 {
		report, err := m.Encode(nil, make([]float64, r.Dim), nil)
		if err != nil {
			t.Fatal(err)
		}
		item, err := sealer.Item(report, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, tag, err := opener.Open(item)
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			tag[2] ^= 1 // of another share
		}
		req.Sealed, req.ShareTags = append(req.Sealed, item[:format.Sealed]...), append(req.ShareTags, tag...)
		ids = append(ids, fmt.Sprintf("%x", seal.ID(item[:format.Sealed])))
	}
	for range 2 {
		resp, err := service.NewShuffledClient(p.conn).ForwardReports(t.Context(), req)
		if err != nil || !slices.Equal(resp.GetRejected(), []uint32{1}) {
			t.Errorf("%v, %v, want the one rejected whose share was changed", resp.GetRejected(), err)
		}
	}
	if text := logged.String(); !strings.Contains(text, ids[1]) || strings.Contains(text, ids[0]) || !strings.Contains(text, "share was changed") {
		t.Errorf("the log does not name %s:\n%s", ids[1], text)
	}
	for name, tags := range map[string][]byte{"no tags": nil, "a tag too few": req.ShareTags[32:], "a part": req.ShareTags[1:]} {
		short := forwarding(t, r)
		short.Sealed, short.ShareTags = req.Sealed, tags
		_, err := service.NewShuffledClient(p.conn).ForwardReports(t.Context(), short)
		wantField(t, name, err, codes.InvalidArgument, "share_tags")
	}
}

// Only the first server's share travels to the server, and in the end the second server's sum. A round whose sum no message could bring
// is refused when it opens, and one whose sum just fits ends.
func TestTheSecondSumFitsIntoAMessage(t *testing.T) {
	r := sharesRound("r")
	r.Dim = 1 << 16
	with := func(maxMessageBytes int) *peers {
		return start(t, server.Config{Seal: newKeys(t), Limits: server.Limits{MaxMessageBytes: maxMessageBytes}})
	}
	share := mechanismOf(t, open(t, with(1<<20), r)).(fl.SharedMechanism).ShareBytes(fl.SecondServer)
	_, err := with(share+5<<10-1).operator.OpenRound(t.Context(), r)
	wantField(t, "a sum that is too long", errors.Unwrap(err), codes.InvalidArgument, "round.dim")
	p := with(share + 5<<10)
	r = open(t, p, r)
	if err := complete(t, p, r, forwardShares(t, p, r, 4)); err != nil {
		t.Error(err)
	}
}

// With too few reports there is no sum of the second server, and none is asked for.
func TestARoundOfTwoServersWithTooFewReportsExpires(t *testing.T) {
	p := start(t, server.Config{Seal: newKeys(t)})
	r := open(t, p, sharesRound("r"))
	m := mechanismOf(t, r).(fl.SharedMechanism)
	a, _, err := m.EncodeShares(nil, nil, make([]float64, r.Dim), nil)
	if err != nil {
		t.Fatal(err)
	}
	forwardGood(t, p, r, sealed(t, r, append(a, noTag...))...)
	if err := complete(t, p, r, nil); err != nil {
		t.Error(err)
	}
	_, err = p.operator.Estimate(t.Context(), "r", false)
	wantCode(t, "the estimate", errors.Unwrap(err), codes.FailedPrecondition)
	if s := state(t, p, "r"); s != service.RoundState_ROUND_STATE_EXPIRED {
		t.Errorf("the round is %v", s)
	}
}
