package gaussian

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"strings"
	"testing"

	"github.com/cloudflare/circl/vdaf/prio3/arith/fp128"
	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

var long = flag.Bool("long", false, "keep the contract in rounds with proofs, too")

func provedRound(dim int) fl.Round {
	r := testRound(dim)
	r.Params = fl.Params{ParamProof: fl.Text(Prio3)}
	return r
}

func openProved(t testing.TB, r fl.Round) *proved {
	t.Helper()
	_, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*proved)
}

func TestRoundsWithProofsKeepTheContract(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	for _, dim := range []int{1, 20} {
		r, _, err := fl.Complete(provedRound(dim))
		if err == nil {
			err = fltest.Mechanism(r, fltest.Options{})
		}
		if err != nil {
			t.Errorf("dim %d: %v", dim, err)
		}
	}
}

func TestTheErrorWithProofsIsThatOfTheNoise(t *testing.T) {
	r := provedRound(3)
	const reports = 3
	each := openProved(t, r).StandardError(reports, reports)
	err := fltest.Rounds(r, fltest.Accuracy{
		Gradients: [][]float64{{1, 0, -1}, {0.5, 0.5, 0}, {-1, 1, 1}}, Truth: []float64{0.5 / 3, 0.5, 0},
		MSE: 3 * each * each * reports, Reports: reports, Rounds: 100, StdErrFactor: 1.15, NoiseFactor: 1.15,
	})
	if err != nil {
		t.Error(err)
	}
}

// A vector is within the proof's range, and as short as its sensitivity says, whatever the gradient was. One rotated
// coordinate has all of the longest gradient here: 2/3·√d' units, above the range.
func TestHonestVectorsAreWithinTheRange(t *testing.T) {
	m := openProved(t, provedRound(256))
	grad, rotated := make([]float64, 256), make([]float64, 256)
	rotated[5] = 1
	if err := m.integers.rotation.Inverse(grad, rotated); err != nil {
		t.Fatal(err)
	}
	for i := range grad {
		grad[i] *= 1e6
	}
	rng := newRand(3)
	x, err := m.integers.of(grad, rng)
	if err != nil {
		t.Fatal(err)
	}
	if x[5] != widestProved || squares(x) > m.integers.most {
		t.Errorf("%d of squared length %d, want %d, and at most %d", x[5], squares(x), widestProved, m.integers.most)
	}
	if _, _, err := m.EncodeShares(nil, nil, grad, rng); err != nil {
		t.Error(err)
	}
	// (4/9 + 1/4)·9/4 is 1.25², and the slack is 9 % at d' = 256.
	if b, most := m.integers.sensitivity(fl.ZeroOut), m.integers.units*1.36; b > most || m.integers.units < provedGrid.fineness*16 {
		t.Errorf("B = %g for K = %g", b, m.integers.units)
	}
}

// The longest vector that has a proof is as long as an honest one may be: B. It shifts the mean by its length over n. A vector that is
// longer has none.
func TestALiarShiftsTheMeanByABoundedLength(t *testing.T) {
	m := openProved(t, provedRound(64))
	rng, key, sum := newRand(4), &fl.VerifyKey{7}, m.newTotal() // without noise
	const n = 8
	most := m.integers.most
	for i := range n {
		x := make([]int64, 64)
		if i == 0 {
			left := most
			for j := range x {
				for v := int64(widestProved); v > 0; v-- {
					if v*v <= left {
						x[j], left = v*int64(1-2*(j%2)), left-v*v
						break
					}
				}
			}
			if squares(x) != most {
				t.Fatalf("%d of %d", squares(x), most)
			}
		}
		first, second := m.split(nil, nil, x, 1, rng)
		prepared, err := m.AppendPrepShare(nil, key, second)
		if err == nil {
			err = m.CheckShare(key, first, prepared)
		}
		if err == nil {
			err = errors.Join(sum.add(fl.FirstServer, first), sum.add(fl.SecondServer, second))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	grad, err := m.integers.back(sum.sum.values())
	if err != nil {
		t.Fatal(err)
	}
	want := m.round.Scale * m.integers.sensitivity(fl.ZeroOut) / m.integers.units
	if length := floats.Norm(grad, 2); math.Abs(length-want) > 1e-9 || math.Abs(m.Sway()-want) > 1e-9 || want > 1.42*m.round.Scale {
		t.Errorf("the sum is %g long, and has a proof up to %g, want %g", length, m.Sway(), want)
	}
}

// A proved vector is at most 1.42 times as long as the clip, and 1.74 times with up to 32 coordinates: for every number of coordinates that has proofs.
func TestProvedVectorsAreAsShortAsThePagesSay(t *testing.T) {
	for dim := 1; dim <= maxProved; dim *= 2 {
		n, err := newIntegers(testRound(dim), provedGrid)
		if err != nil {
			t.Fatal(err)
		}
		most := 1.42
		if dim <= 32 {
			most = 1.74
		}
		if ratio := n.sensitivity(fl.ZeroOut) / n.units; !(ratio >= 1-1e-9 && ratio <= most) {
			t.Errorf("%d coordinates: %.4f times the clip, want at most %g", dim, ratio, most)
		}
	}
}

// With proofs at most one rounding in 400 is drawn again, so that the mean of roundings is the gradient to .3 % also where
// coordinates are few. Probabilities are exact, for all gradients as long as the clip whose rotated coordinates have one of two sizes, one of them listed.
func TestFewProvedRoundingsAreDrawnAgain(t *testing.T) {
	for dim := 2; dim <= 256; dim *= 2 {
		n, err := newIntegers(testRound(dim), provedGrid)
		if err != nil {
			t.Fatal(err)
		}
		for _, large := range []float64{1.001, 1.1, 1.25, 1.5, 1.75, 1.999} {
			for some := range dim {
				rest := n.units*n.units - float64(some)*large*large
				small := math.Sqrt(rest / float64(dim-some))
				if !(small <= large) {
					continue
				}
				if p := tooLong(n.most, map[float64]int{large: some, small: dim - some}); !(p <= 1./400) {
					t.Errorf("d' = %d, %d of %g, %d of %.3f: %.5f are drawn again", dim, some, large, dim-some, small, p)
				}
			}
		}
	}
}

// tooLong is the probability that a number of values of less than 2 each, rounded at random, have a squared length above most.
func tooLong(most int64, values map[float64]int) float64 {
	length := []float64{1} // by squared length
	for v, number := range values {
		below := math.Floor(v)
		low, high, up := int(below*below), int((below+1)*(below+1)), v-below
		for range number {
			next := make([]float64, len(length)+high)
			for l, p := range length {
				next[l+low] += p * (1 - up)
				next[l+high] += p * up
			}
			length = next
		}
	}
	sum := 0.
	for _, p := range length[min(int(most)+1, len(length)):] {
		sum += p
	}
	return sum
}

// A vector whose square is one above the bound has no proof, whatever the liar's own code says about it.
func TestALongerVectorHasNoProof(t *testing.T) {
	m := openProved(t, provedRound(64))
	digest, err := m.round.Digest()
	if err != nil {
		t.Fatal(err)
	}
	own, err := newProofs(64, m.integers.most+1, digest)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]int64, 64)
	for i, left := 0, m.integers.most+1; left > 0; i++ {
		x[i] = 1
		if left >= 4 {
			x[i] = 2
		}
		left -= x[i] * x[i]
	}
	key := &fl.VerifyKey{7}
	first, second := own.split(nil, nil, x, newRand(5))
	prepared, err := own.appendPrepared(nil, key, second)
	if err == nil {
		err = own.verify(key, first, prepared)
	}
	if err != nil {
		t.Fatal(err)
	}
	if prepared, err = m.AppendPrepShare(nil, key, second); err == nil {
		err = m.CheckShare(key, first, prepared)
	}
	if !errors.Is(err, fl.ErrBadReport) {
		t.Errorf("%v, want ErrBadReport", err)
	}
}

// What the bits of a coordinate may be, whoever sets them, they stand for a number whose square is at most the number of bits set. So the bound on
// all bits of a vector is a bound on its squared length: by enumeration.
func TestBitsBoundTheSquare(t *testing.T) {
	for set := range 1 << inputBits {
		v, n := make(fp128.Vec, inputBits), 0
		for j := range v {
			if set>>j&1 == 1 {
				v[j].SetOne()
				n++
			}
		}
		if x := signed(folded(v)[0]); x*x > float64(thirds*thirds*n) {
			t.Errorf("bits %08b stand for %g thirds, with %d of them set", set, x, n)
		}
	}
}

// Whatever is changed in a report is found before it counts: in the second server's share, the first server's, or the proof.
func TestAReportWithoutAProofIsRefused(t *testing.T) {
	m := openProved(t, provedRound(5))
	all := pairs(t, m.mechanism, 2)
	key, otherKey := &fl.VerifyKey{1}, &fl.VerifyKey{2}
	check := func(key *fl.VerifyKey, first, second []byte) error {
		prepared, err := m.AppendPrepShare(nil, key, second)
		if err != nil {
			return err
		}
		return m.CheckShare(key, first, prepared)
	}
	own, other := all[0], all[1]
	if err := errors.Join(check(key, own.first, own.second), check(otherKey, own.first, own.second)); err != nil {
		t.Fatal(err)
	}
	changed := func(share []byte, at int) []byte {
		share = bytes.Clone(share)
		share[at] ^= 1
		return share
	}
	spliced := func(share []byte) []byte { // the second server's part of one report, the first server's of the other
		share = bytes.Clone(share)
		copy(share[nonceBytes:], other.second[nonceBytes:nonceBytes+32])
		copy(share[nonceBytes+32:], own.first[nonceBytes+32:publicBytes])
		return share
	}
	vector, proof := publicBytes, publicBytes+8*inputBits*elementBytes+4*elementBytes
	sameNonce := func(share []byte) []byte { return append(bytes.Clone(own.first[:nonceBytes]), share[nonceBytes:]...) }
	for name, c := range map[string]struct{ first, second []byte }{
		"another report's share":    {own.first, other.second},
		"another nonce":             {own.first, changed(own.second, 0)},
		"another nonce at both":     {changed(own.first, 0), changed(own.second, 0)},
		"another part":              {changed(own.first, nonceBytes), changed(own.second, nonceBytes)},
		"a part at one server":      {own.first, changed(own.second, nonceBytes+40)},
		"a number":                  {own.first, changed(own.second, vector+5)},
		"the proof":                 {own.first, changed(own.second, proof+5)},
		"a seed":                    {changed(own.first, publicBytes+3), own.second},
		"a blind":                   {changed(own.first, len(own.first)-1), own.second},
		"two reports, public bytes": {spliced(own.first), spliced(sameNonce(other.second))},
		"no element of the field":   {own.first, append(bytes.Clone(own.second[:vector]), bytes.Repeat([]byte{255}, len(own.second)-vector)...)},
		"a byte less":               {own.first, own.second[1:]},
		"a byte less of the seed":   {own.first[1:], own.second},
	} {
		if err := check(key, c.first, c.second); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: %v, want ErrBadReport", name, err)
		}
	}
	// Other parts of the joint randomness at one server are refused by themselves: a liar could try many of them otherwise.
	if err := check(key, own.first, changed(own.second, nonceBytes+40)); err == nil || !strings.Contains(err.Error(), "public bytes") {
		t.Errorf("a part at one server: %v, want an error about public bytes", err)
	}
	prepared, err := m.AppendPrepShare(nil, otherKey, own.second)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string][]byte{"under another key": prepared, "zeros": make([]byte, m.PrepShareBytes()), "nothing": nil} {
		if err := m.CheckShare(key, own.first, p); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("a preparation share %s: %v, want ErrBadReport", name, err)
		}
	}
}

// What a proof would be false for is refused when the round opens.
func TestRoundsWithoutProofsOfTheirKindAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fl.Round)
		param  string
	}{
		"another proof": {func(r *fl.Round) { r.Params[ParamProof] = fl.Text("snark") }, ParamProof},
		"a number":      {func(r *fl.Round) { r.Params[ParamProof] = fl.Int(3) }, ParamProof},
		"records":       {func(r *fl.Round) { r.Params[fl.ParamRecords] = fl.Int(3) }, ParamProof},
		"too long":      {func(r *fl.Round) { r.Dim = maxProved + 1 }, "dim"},
	} {
		r := provedRound(5)
		c.change(&r)
		if _, err := fl.Open(r); !isParam(err, c.param) {
			t.Errorf("%s: %v, want a ParamError for %s", name, err, c.param)
		}
	}
}

// Elements stand for integers of both signs, also at the ends of what noise and sums reach.
func TestElementsAreIntegers(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 16, math.MaxInt64, math.MinInt64, 1 << 40, -(1 << 40)} {
		e := element(v)
		if got := signed(e); got != float64(v) {
			t.Errorf("%d comes back as %g", v, got)
		}
	}
	s := newFieldSum(2)
	s.elements[0], s.elements[1] = element(-5), element(5)
	if !s.add(s.pack(nil)) || signed(s.elements[0]) != -10 || s.add(bytes.Repeat([]byte{255}, 2*elementBytes)) || s.add(nil) {
		t.Errorf("sum %v", s)
	}
}

// The proof is the shortest one that Prio3MultihotCountVec has for a number of bits.
func TestTheProofIsTheShortest(t *testing.T) {
	m := openProved(t, provedRound(1000))
	if share, want := m.ShareBytes(fl.SecondServer), 1024*inputBits*elementBytes; share > want*105/100 {
		t.Errorf("a share has %d bytes, the vector alone %d", share, want)
	}
	if m.ShareBytes(fl.FirstServer) != publicBytes+64 || m.PrepShareBytes() > 4096 {
		t.Errorf("%d and %d bytes", m.ShareBytes(fl.FirstServer), m.PrepShareBytes())
	}
}

// Whatever a client and the other server send, a share is refused or has its size, and a check ends with ErrBadReport.
func FuzzProofs(f *testing.F) {
	m := openProved(f, provedRound(3))
	p, key := pairs(f, m.mechanism, 1)[0], &fl.VerifyKey{1}
	prepared, err := m.AppendPrepShare(nil, key, p.second)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p.first, p.second, prepared)
	f.Add(p.second, p.first, []byte(nil))
	f.Fuzz(func(t *testing.T, first, second, prepared []byte) {
		made, err := m.AppendPrepShare(nil, key, second)
		if err != nil && (!errors.Is(err, fl.ErrBadReport) || len(made) != 0) || err == nil && (len(made) != m.PrepShareBytes() || len(second) != m.ShareBytes(fl.SecondServer)) {
			t.Fatalf("%d bytes of %d: %v", len(made), len(second), err)
		}
		for _, other := range [][]byte{prepared, made} {
			if err := m.CheckShare(key, first, other); err != nil && !errors.Is(err, fl.ErrBadReport) {
				t.Fatal(err)
			}
		}
		for side, share := range map[fl.ShareSide][]byte{fl.FirstServer: first, fl.SecondServer: second} {
			s := newServer(t, m.mechanism, side)
			if err := s.Add([]byte("id"), share); err != nil && !errors.Is(err, fl.ErrBadReport) || err == nil && len(share) != m.ShareBytes(side) {
				t.Fatalf("server %d: %v", side, err)
			}
		}
	})
}
