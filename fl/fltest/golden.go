package fltest

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// Golden checks that ten clients' reports, and the snapshot of an aggregator that has added
// them, have the given bytes: the first 8 bytes of their SHA-256. Only a new version of the
// format may change them.
func Golden(t testing.TB, r fl.Round, wantReports, wantSnapshot string) {
	t.Helper()
	r.ID, r.Dim, r.Scale, r.MinReports, r.PublicSeed = "golden", 20, 2, 10, [32]byte{1}
	r, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	agg, sent := m.NewAggregator(), sha256.New()
	rng := rand.New(rand.NewChaCha8([32]byte{2}))
	for i := range 10 {
		report, err := encodeAs(m, i, exactGradient(i, r.Dim), rng)
		if err != nil {
			t.Fatal(err)
		}
		sent.Write(report)
		if err := agg.Add(report); err != nil {
			t.Fatal(err)
		}
	}
	if got := hex.EncodeToString(sent.Sum(nil)[:8]); got != wantReports {
		t.Errorf("%s: reports %s, want %s", r.Mechanism, got, wantReports)
	}
	data, err := agg.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:8]); got != wantSnapshot {
		t.Errorf("%s: snapshot %s, want %s", r.Mechanism, got, wantSnapshot)
	}
}

// encodeAs returns the report of client i, which takes tier i mod tiers where there are tiers.
func encodeAs(m fl.Mechanism, i int, grad []float64, rng *rand.Rand) ([]byte, error) {
	if tiered, ok := m.(fl.TieredMechanism); ok {
		return tiered.EncodeTier(nil, i%len(tiered.Tiers()), grad, rng)
	}
	return m.Encode(nil, grad, rng)
}

// exactGradient is the gradient of client i, with coordinates that are exact in every floating-point format.
func exactGradient(i, dim int) []float64 {
	grad := make([]float64, dim)
	for j := range grad {
		grad[j] = float64((i+j)*37%101-50) / 64
	}
	return grad
}

// Snapshot returns a snapshot of the round with the right digest and checksum, whatever the
// payload.
func Snapshot(t testing.TB, r fl.Round, payload []byte) []byte {
	t.Helper()
	counted, err := count.NewRound(r)
	if err != nil {
		t.Fatal(err)
	}
	data, err := counted.Snapshot(payload)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
