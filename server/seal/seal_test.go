package seal_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/seal"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/tiers"
)

// generate returns a key, its sealer and its opener for one round.
func generate(t testing.TB, s seal.Suite, digest [32]byte) (*seal.Key, *seal.Sealer, *seal.Opener) {
	t.Helper()
	key, err := seal.GenerateKey(s)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := seal.NewSealer(key.Public(), digest)
	if err != nil {
		t.Fatal(err)
	}
	return key, sealer, key.NewOpener(digest)
}

func sealed(t testing.TB, s *seal.Sealer, plaintext []byte) []byte {
	t.Helper()
	out, err := s.Seal(nil, plaintext)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOnlyTheKeyOfTheRoundOpens(t *testing.T) {
	report := []byte("report")
	for _, suite := range seal.Suites() {
		key, sealer, opener := generate(t, suite, [32]byte{1})
		_, _, stranger := generate(t, suite, [32]byte{1})
		c := sealed(t, sealer, report)
		if got, err := opener.Open(c); err != nil || !bytes.Equal(got, report) {
			t.Errorf("%s: opened %q, %v", suite, got, err)
		}
		if again := sealed(t, sealer, report); bytes.Equal(again, c) || seal.ID(again) == seal.ID(c) {
			t.Errorf("%s: the same report was sealed to the same bytes", suite)
		}
		for what, o := range map[string]*seal.Opener{"another key": stranger, "another round": key.NewOpener([32]byte{2})} {
			if got, err := o.Open(c); !errors.Is(err, seal.ErrSealed) {
				t.Errorf("%s: %s opens %q, %v", suite, what, got, err)
			}
		}
		for i := range c {
			changed := bytes.Clone(c)
			changed[i] ^= 1
			if _, err := opener.Open(changed); !errors.Is(err, seal.ErrSealed) {
				t.Errorf("%s: byte %d was changed: %v", suite, i, err)
			}
		}
		for _, cut := range [][]byte{nil, c[:1], c[:len(c)-1], append(bytes.Clone(c), 0)} {
			if _, err := opener.Open(cut); !errors.Is(err, seal.ErrSealed) {
				t.Errorf("%s: %d of %d bytes: %v", suite, len(cut), len(c), err)
			}
		}
	}
}

// sealedRound returns a complete round with a shuffler.
func sealedRound(t testing.TB, mechanism string, suite seal.Suite, change func(*fl.Round)) (fl.Round, fl.Mechanism) {
	t.Helper()
	key, err := seal.GenerateKey(suite)
	if err != nil {
		t.Fatal(err)
	}
	r := fl.Round{
		ID: "r", Mechanism: mechanism, Dim: 20, Scale: 1, Epsilon: 1, Relation: fl.ReplaceOne, MinReports: 100,
		PublicSeed: [32]byte{1}, Shuffler: "shuffler.example", SealKey: key.Public(),
	}
	if mechanism == coco.Name {
		r.Params = fl.Params{sparse.ParamSparsity: fl.Int(2)}
	}
	if change != nil {
		change(&r)
	}
	r, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// outerKey returns an issuer's key.
func outerKey(t testing.TB) []byte {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, admit.KeyBits)
	if err != nil {
		t.Fatal(err)
	}
	public, err := admit.MarshalKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return public
}

// A shuffler that cannot check tokens would count whoever reaches it, in a round whose clients count on
// tokens.
func TestTokensWithoutTheShufflersKeyAreRefused(t *testing.T) {
	for name, outer := range map[string][]byte{"none": nil, "no key": {1, 2, 3}} {
		r, m := sealedRound(t, coco.Name, seal.X25519, func(r *fl.Round) { r.IssuerKey, r.OuterIssuerKey = []byte{1}, outer })
		_, err := seal.FormatOf(r, m)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != "outer_issuer_key" {
			t.Errorf("%s: %v, want an error for outer_issuer_key", name, err)
		}
		if outer == nil && !strings.Contains(err.Error(), "hushgrad round --issuer-key") {
			t.Errorf("%v does not say what to type", err)
		}
	}
}

func TestTheFormatHasTheLengthsOfRealReports(t *testing.T) {
	for _, suite := range seal.Suites() {
		r, m := sealedRound(t, coco.Name, suite, func(r *fl.Round) { r.IssuerKey, r.OuterIssuerKey = []byte{1}, outerKey(t) })
		f, err := seal.FormatOf(r, m)
		if err != nil {
			t.Fatal(err)
		}
		digest, err := r.Digest()
		if err != nil {
			t.Fatal(err)
		}
		sealer, err := seal.NewSealer(r.SealKey, digest)
		if err != nil {
			t.Fatal(err)
		}
		report, err := m.Encode(nil, make([]float64, r.Dim), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := sealed(t, sealer, append(report, make([]byte, admit.TokenBytes)...))
		if f.Report != len(report) || f.Token != admit.TokenBytes || f.Sealed != len(c) || f.SealedSecond != 0 || f.Item() != len(c) {
			t.Errorf("%s: %+v for a report of %d bytes, sealed %d", suite, f, len(report), len(c))
		}
	}
}

func TestTheFormatOfTwoServers(t *testing.T) {
	r, m, _ := sharedRound(t)
	f, err := seal.FormatOf(r, m)
	if err != nil {
		t.Fatal(err)
	}
	first, second, err := m.(fl.SharedMechanism).EncodeShares(nil, nil, make([]float64, r.Dim), nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Report != len(first) || f.Token != 0 || f.Tag != seal.TagBytes || f.Second != len(second) || f.Item() != f.Sealed+f.Tag+len(second)+48 {
		t.Errorf("%+v for shares of %d and %d bytes", f, len(first), len(second))
	}
}

func TestRoundsThatAShufflerDoesNotServe(t *testing.T) {
	for what, c := range map[string]struct {
		mechanism string
		change    func(*fl.Round)
		param     string
	}{
		"no shuffler": {coco.Name, func(r *fl.Round) { r.Shuffler, r.SealKey = "", nil }, "shuffler"},
		"another key": {coco.Name, func(r *fl.Round) { r.SealKey = []byte{0, 1, 2} }, "seal_key"},
		"a short key": {coco.Name, func(r *fl.Round) { r.SealKey = r.SealKey[:20] }, "seal_key"},
		"several lengths": {tiers.Name, func(r *fl.Round) {
			r.Epsilon = 2
			r.Params = fl.Params{tiers.ParamBase: fl.Text(coco.Name), tiers.ParamMenu: fl.Text("1,2"), sparse.ParamSparsity: fl.Int(2)}
		}, "mechanism"},
		"no key for shares":  {hdsum.SharesName, func(r *fl.Round) { r.Delta = 1e-6 }, "share_key"},
		"a bad one":          {hdsum.SharesName, func(r *fl.Round) { r.Delta, r.ShareKey = 1e-6, []byte{1} }, "share_key"},
		"a key and no share": {coco.Name, func(r *fl.Round) { r.ShareKey = []byte{1} }, "share_key"},
		"merged messages":    {hdsum.Name, func(r *fl.Round) { r.Delta = 1e-6 }, "mechanism"},
	} {
		r, m := sealedRound(t, c.mechanism, seal.X25519, c.change)
		_, err := seal.FormatOf(r, m)
		var param *fl.ParamError
		if !errors.As(err, &param) || param.Param != c.param {
			t.Errorf("%s: %v, want an error about %s", what, err, c.param)
		}
	}
}

func TestMessagesAreCutIntoItems(t *testing.T) {
	items, err := seal.Split([]byte("aabbcc"), 2)
	if err != nil || len(items) != 3 || string(items[1]) != "bb" || cap(items[1]) != 2 {
		t.Errorf("got %q, %v", items, err)
	}
	for _, message := range [][]byte{nil, []byte("a"), []byte("aab"), make([]byte, 2*fl.MaxBatch+2)} {
		if _, err := seal.Split(message, 2); err == nil {
			t.Errorf("%d bytes were split", len(message))
		}
	}
}

func TestFingerprintsAreReadAsTheyArePrinted(t *testing.T) {
	f := seal.FingerprintOf([]byte("key"))
	if got, err := seal.ParseFingerprint(f.String()); err != nil || got != f {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := json.Marshal(f); err != nil || string(got) != strconv.Quote(f.String()) {
		t.Errorf("JSON has %s, %v", got, err)
	}
	for _, text := range []string{"", "12", f.String() + "00", "zz" + f.String()[2:]} {
		if _, err := seal.ParseFingerprint(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func FuzzOpen(f *testing.F) {
	_, sealer, opener := generate(f, seal.X25519, [32]byte{1})
	f.Add(sealed(f, sealer, []byte("report")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := opener.Open(data); (err == nil) == errors.Is(err, seal.ErrSealed) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func FuzzNewSealer(f *testing.F) {
	for _, suite := range seal.Suites() {
		key, _, _ := generate(f, suite, [32]byte{1})
		f.Add(key.Public())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sealer, err := seal.NewSealer(data, [32]byte{1})
		if err == nil {
			_, _ = sealer.Seal(nil, data) // X25519 refuses points of low order here
		} else if _, ok := errors.AsType[*fl.ParamError](err); !ok {
			t.Errorf("%v names no field", err)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	for _, suite := range seal.Suites() {
		_, sealer, opener := generate(b, suite, [32]byte{1})
		report := make([]byte, 6)
		c := sealed(b, sealer, report)
		b.Run("seal/"+string(suite), func(b *testing.B) {
			for b.Loop() {
				if _, err := sealer.Seal(nil, report); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("open/"+string(suite), func(b *testing.B) {
			for b.Loop() {
				if _, err := opener.Open(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
