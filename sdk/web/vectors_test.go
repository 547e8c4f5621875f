package main

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/baseline/gaussian"
	"github.com/hushgrad/hushgrad/baseline/laplace"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

// vectorsFile has what the tests in a browser compare with.
const vectorsFile = "testdata/vectors.json"

var update = flag.Bool("update", false, "write "+vectorsFile)

// vector is a round, and the report of the gradient (i·7919 mod 1000)/1000 − 1/2 in it, for the key of a
// ChaCha8 generator.
type vector struct {
	Name   string          `json:"name"`
	Round  json.RawMessage `json:"round"`
	Seed   string          `json:"seed"`   // hexadecimal, as is the report
	Report string          `json:"report"` // packed
}

func vectors(t *testing.T) (cases []vector) {
	for i, r := range []fl.Round{
		{Mechanism: coco.Name, Dim: 7850, Params: fl.Params{sparse.ParamSparsity: fl.Int(64)}},
		{Mechanism: coco.Name, Dim: 1000, Params: fl.Params{sparse.ParamSparsity: fl.Int(8)}},
		{Mechanism: collision.Name, Dim: 1000, Params: fl.Params{sparse.ParamSparsity: fl.Int(8)}},
		{Mechanism: signsketch.Name, Dim: 1000, Params: fl.Params{sparse.ParamSparsity: fl.Int(8)}},
		{Mechanism: auto.Name, Dim: 500, MinReports: 1000, Params: fl.Params{sparse.ParamSparsity: fl.Int(4)}},
		{Mechanism: laplace.Name, Dim: 10},
		{Mechanism: gaussian.Name, Dim: 10, Delta: 1e-6},
	} {
		r.ID, r.Scale, r.Epsilon, r.Relation, r.MinReports = "vectors", 0.5, 4, fl.ReplaceOne, max(r.MinReports, 100)
		seed := [32]byte{byte(i + 1), 42}
		r.PublicSeed = seed
		r, m, err := fl.Complete(r)
		if err != nil {
			t.Fatal(err)
		}
		gradient := make([]float64, r.Dim)
		for i := range gradient {
			gradient[i] = float64(i*7919%1000)/1000 - 0.5
		}
		report, err := m.Encode(nil, gradient, rand.New(rand.NewChaCha8(seed)))
		if err != nil {
			t.Fatal(err)
		}
		packed, err := fl.PackReports(m, nil, report)
		if err != nil {
			t.Fatal(err)
		}
		round, err := protojson.Marshal(r.Proto())
		if err != nil {
			t.Fatal(err)
		}
		var spaced any // protojson puts spaces at random
		if err := json.Unmarshal(round, &spaced); err != nil {
			t.Fatal(err)
		}
		if round, err = json.Marshal(spaced); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, vector{r.Mechanism, round, hex.EncodeToString(seed[:]), hex.EncodeToString(packed)})
	}
	return cases
}

// The vectors that a browser has to reproduce are what this code makes. They were computed on amd64:
// other processors may round once where amd64 rounds twice.
func TestVectorsAreCurrent(t *testing.T) {
	type file struct {
		Cases []vector `json:"cases"`
	}
	want := file{vectors(t)}
	if *update {
		text, err := json.MarshalIndent(want, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorsFile, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the vectors are those of amd64")
	}
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var got file
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for i := range got.Cases { // compact
		var any any
		if err := json.Unmarshal(got.Cases[i].Round, &any); err != nil {
			t.Fatal(err)
		}
		got.Cases[i].Round, _ = json.Marshal(any)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is not current: go test ./sdk/web -update", vectorsFile)
	}
}
