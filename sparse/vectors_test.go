package sparse_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/bits"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// vectors is the content of a file of test vectors.
type vectors struct {
	Note  string `json:"note"`
	Cases []struct {
		Hash           string   `json:"hash"`
		Dim            int      `json:"dim"`
		Slots          int      `json:"slots"`
		Reports        []string `json:"reports"`         // hexadecimal
		PayloadSHA256  string   `json:"payload_sha256"`  // of the number of reports and the tally
		SnapshotSHA256 string   `json:"snapshot_sha256"` // of the header and the compressed payload
	} `json:"cases"`
}

// checkVectors compares the code with a file of test vectors: a fixed round, a
// fixed gradient and a fixed generator give fixed bytes (docs/report-format.md says
// which). A change of the reports breaks every client in the field, a change of the
// payload every stored aggregator; a new release of the compressor may change the
// snapshot alone.
func checkVectors(t *testing.T, mechanism, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var recorded vectors
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	if len(recorded.Cases) != 3 {
		t.Fatalf("%d recorded cases, want one per hash family and one of many coordinates", len(recorded.Cases))
	}
	for _, c := range recorded.Cases {
		r := fl.Round{
			ID: "vectors", Mechanism: mechanism, Dim: c.Dim, Scale: 0.25, Epsilon: 2, Relation: fl.ReplaceOne, MinReports: 1,
			Params: fl.Params{"sparsity": fl.Int(8), "slots": fl.Int(c.Slots), "hash": fl.Text(c.Hash)},
		}
		for i := range r.PublicSeed {
			r.PublicSeed[i] = byte(i + 1)
		}
		m, err := fl.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		grad := make([]float64, r.Dim) // every value is a binary fraction
		for j := range grad {
			grad[j] = float64(j*37%101-50) / 1024
		}
		rng := rand.New(rand.NewChaCha8(r.PublicSeed))
		agg := m.NewAggregator()
		for i := range 10 {
			report, err := m.Encode(nil, grad, rng)
			if err != nil {
				t.Fatal(err)
			}
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
			slotBytes := (bits.Len(uint(c.Slots-1)) + 7) / 8
			if slot := binary.LittleEndian.Uint32(append(append([]byte(nil), report[4:]...), 0, 0, 0)); len(report) != 4+slotBytes || int(slot) >= c.Slots {
				t.Errorf("%s, d = %d: report % x: %d bytes with slot %d of %d, want %d bytes", c.Hash, c.Dim, report, len(report), slot, c.Slots, 4+slotBytes)
			}
			if got := hex.EncodeToString(report); i >= len(c.Reports) || got != c.Reports[i] {
				t.Errorf("%s, d = %d: report %d is %s, not the recorded one", c.Hash, c.Dim, i, got)
			}
		}
		data, err := agg.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		counted, err := count.NewRound(r)
		if err != nil {
			t.Fatal(err)
		}
		payload, err := counted.Payload(data, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if got := digest(payload.Rest()); got != c.PayloadSHA256 {
			t.Errorf("%s, d = %d: the payload's SHA-256 is %s, want %s", c.Hash, c.Dim, got, c.PayloadSHA256)
		}
		if got := digest(data); got != c.SnapshotSHA256 {
			t.Errorf("%s, d = %d: the snapshot's SHA-256 is %s, want %s", c.Hash, c.Dim, got, c.SnapshotSHA256)
		}
	}
}

func digest(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
