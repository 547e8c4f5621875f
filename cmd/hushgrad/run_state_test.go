package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/hushgrad/hushgrad/internal/descent"
	"github.com/hushgrad/hushgrad/internal/npy"
)

// Whatever a state file holds, reading it ends with an error or with a state that a run goes on from. What is read
// is written as it was.
func FuzzRunState(f *testing.F) {
	c := descent.Config{Optimizer: descent.OptimizerConfig{Name: "momentum", LearningRate: 1, Momentum: 0.5}}
	begun, err := descent.New(c, []float64{1, 2})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := begun.Step([]float64{3, 4}, nil); err != nil {
		f.Fatal(err)
	}
	now := begun.State()
	head, err := json.Marshal(runHead{Version: stateVersion, Seed: make([]byte, 32), Dim: 2, Held: 3, Failed: 2, InARow: 1, Steps: now.Steps, Weight: now.Weight})
	if err != nil {
		f.Fatal(err)
	}
	var texts [3]bytes.Buffer
	for i, v := range [][]float64{now.Params, now.First, now.Sum} {
		if err := npy.Write(&texts[i], v); err != nil {
			f.Fatal(err)
		}
	}
	if err := new(runState).parse(head, texts[0].Bytes(), texts[1].Bytes(), texts[2].Bytes(), c); err != nil {
		f.Fatalf("a state as it is written: %v", err)
	}
	f.Add(head, texts[0].Bytes(), texts[1].Bytes(), texts[2].Bytes())
	f.Add(bytes.Replace(head, []byte(`"dim":2`), []byte(`"dim":100000000`), 1), texts[0].Bytes(), texts[1].Bytes(), texts[2].Bytes())
	f.Fuzz(func(t *testing.T, head, params, moment, sum []byte) {
		var s runState
		if err := s.parse(head, params, moment, sum, c); err != nil {
			return
		}
		text, err := json.Marshal(s.runHead)
		if err != nil {
			t.Fatal(err)
		}
		if err := new(runState).parse(text, params, moment, sum, c); err != nil {
			t.Errorf("%s was read, and is not as %s: %v", head, text, err)
		}
	})
}
