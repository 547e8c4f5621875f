package abi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// goldenFile has what the tests of the Python package compare with.
const goldenFile = "../../../python/tests/golden.json"

var update = flag.Bool("update", false, "write "+goldenFile)

// goldenCase is a round with fixed reports and what they come to.
type goldenCase struct {
	Name        string   `json:"name"`
	Description string   `json:"description"` // hexadecimal, canonical
	Digest      string   `json:"digest"`
	Reports     []string `json:"reports"` // hexadecimal
	Snapshot    string   `json:"snapshot"`
	// SHA-256 of the estimate's numbers, float64, little-endian. They were computed on amd64:
	// other processors may round once where amd64 rounds twice.
	Mean   string `json:"mean_sha256"`
	StdErr string `json:"std_err_sha256"`
	// The norm of the mean's error.
	NoiseNorm float64 `json:"noise_norm"`
}

// golden computes the cases from the test vectors of the mechanisms.
func golden(t *testing.T) (cases []goldenCase) {
	for _, mechanism := range []string{"coco", "collision"} {
		text, err := os.ReadFile("../../../" + mechanism + "/testdata/vectors.json")
		if err != nil {
			t.Fatal(err)
		}
		var recorded struct {
			Cases []struct {
				Hash    string
				Dim     int
				Slots   int
				Reports []string
			}
		}
		if err := json.Unmarshal(text, &recorded); err != nil {
			t.Fatal(err)
		}
		for _, c := range recorded.Cases {
			r := fl.Round{
				ID: "vectors", Mechanism: mechanism, Dim: c.Dim, Scale: 0.25, Epsilon: 2, Relation: fl.ReplaceOne, MinReports: 1,
				Params: fl.Params{"sparsity": fl.Int(8), "slots": fl.Int(c.Slots), "hash": fl.Text(c.Hash)},
			}
			for i := range r.PublicSeed {
				r.PublicSeed[i] = byte(i + 1)
			}
			cases = append(cases, goldenOf(t, fmt.Sprintf("%s %s %d", mechanism, c.Hash, c.Dim), r, c.Reports))
		}
	}
	return cases
}

// goldenOf aggregates the reports by package fl alone.
func goldenOf(t *testing.T, name string, r fl.Round, reports []string) goldenCase {
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	description, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	a := m.NewAggregator()
	for _, text := range reports {
		report, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Add(report); err != nil {
			t.Fatal(err)
		}
	}
	snapshot, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	e, err := a.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	sum := func(numbers []float64) string { return fmt.Sprintf("%x", sha256.Sum256(appendNumbers(nil, numbers))) }
	return goldenCase{
		Name: name, Description: hex.EncodeToString(description), Digest: hex.EncodeToString(digest[:]), Reports: reports,
		Snapshot: hex.EncodeToString(snapshot), Mean: sum(e.Mean().Value), StdErr: sum(e.Mean().StdErr), NoiseNorm: e.NoiseNorm,
	}
}

func TestTheGoldenFileOfPythonIsCurrent(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the file holds what amd64 computes")
	}
	want := golden(t)
	if *update {
		text, err := json.MarshalIndent(want, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(goldenFile, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	var got []goldenCase
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is not what this code computes: run go test ./internal/abi -update", goldenFile)
	}
}
