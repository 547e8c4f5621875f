package trainer

import (
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// A model of 400 examples that is right about all of them may lose 1 %, and not 5 %.
func TestAStepThatLosesAccuracyIsRefused(t *testing.T) {
	m, err := NewModel("softmax", Input{Channels: 1, Height: 1, Width: 400}, 2)
	if err != nil {
		t.Fatal(err)
	}
	// Example i is the unit vector i of class 1, so that a weight decides about one example.
	x, labels := make([][]float64, 400), make([]int, 400)
	good := make([]float64, m.Dim())
	for i := range x {
		x[i], labels[i] = make([]float64, 400), 1
		x[i][i] = 1
		good[2*i+1] = 1
	}
	c, err := NewStepCheck(m, x, labels)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	for wrong, want := range map[int]bool{0: true, 4: true, 20: false, 400: false} {
		worse := append([]float64(nil), good...)
		for i := range wrong {
			worse[2*i+1] = -1
		}
		if got, err := c.Better(good, worse); err != nil || got != want {
			t.Errorf("%d of 400 lost: taken %v, %v", wrong, got, err)
		}
		if got, err := c.Better(worse, good); err != nil || !got {
			t.Errorf("%d of 400 won: taken %v, %v", wrong, got, err)
		}
	}
	var p *fl.ParamError
	if _, err := NewStepCheck(m, x[:99], labels[:99]); !errors.As(err, &p) || p.Param != "labels" {
		t.Errorf("few examples: %v", err)
	}
	if _, err := NewStepCheck(m, x, labels[1:]); !errors.As(err, &p) || p.Param != "labels" {
		t.Errorf("a label is missing: %v", err)
	}
}
