package sparse_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/signsketch"
)

// A report with an assigned seed is the one whose law the proofs of ε enumerate for this seed.
func TestAnAssignedSeedHasTheProvedLaw(t *testing.T) {
	for _, name := range []string{coco.Name, collision.Name, signsketch.Name} {
		_, m, err := fl.Complete(fl.Round{
			ID: "r", Mechanism: name, Dim: 20, Scale: 1, Epsilon: 2, MinReports: 1, PublicSeed: [32]byte{1}, Params: fl.Params{"sparsity": fl.Int(2)},
		})
		if err != nil {
			t.Fatal(err)
		}
		choosing := m.(interface {
			EncodeChoosing(dst []byte, x fl.Ternary, seed uint32, choose exact.Chooser) ([]byte, error)
		})
		x := fl.Ternary{Dim: 20, Index: []uint32{3, 17}, Sign: []int8{1, -1}}
		for seed := range uint32(200) {
			assigned := m.(fl.SeededMechanism).WithSeed(seed).(fl.SparseMechanism)
			got, err := assigned.EncodeTernary(nil, x, rand.New(rand.NewPCG(uint64(seed), 1)))
			if err != nil {
				t.Fatal(err)
			}
			want, err := choosing.EncodeChoosing(nil, x, seed, exact.Rand{Rand: rand.New(rand.NewPCG(uint64(seed), 1))})
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s, seed %d: %x, want %x, %v", name, seed, got, want, err)
			}
		}
	}
}
