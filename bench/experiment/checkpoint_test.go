package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

func TestCheckpointGoesOnWhereItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.checkpoint")
	computed := 0
	compute := func(v ...float64) func() ([]float64, error) {
		return func() ([]float64, error) { computed++; return v, nil }
	}
	open := func(command string) *Checkpoint {
		c, err := OpenCheckpoint(path, command)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	do := func(c *Checkpoint, key string, v ...float64) []float64 {
		got, err := c.Do(key, compute(v...))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	c := open("bench a")
	do(c, "x", 1, 2)
	do(c, "y", 3)
	if do(c, "x", 9); computed != 2 {
		t.Errorf("computed %d parts, want 2", computed)
	}
	if _, err := c.Do("bad", func() ([]float64, error) { return nil, errors.New("no") }); err == nil {
		t.Error("an error was kept")
	}
	if err := c.Close(false); err != nil {
		t.Fatal(err)
	}
	// A line that the interruption cut short is forgotten, what came before is not.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"key":"z","val`); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	c = open("bench a")
	if got := do(c, "x", 9); !slices.Equal(got, []float64{1, 2}) || computed != 2 {
		t.Errorf("after the restart x is %v, %d computed", got, computed)
	}
	if now := c.Earlier(); now <= 0 || now > 60 {
		t.Errorf("the interrupted run took %g seconds", now)
	}
	if got := do(c, "z", 5); !slices.Equal(got, []float64{5}) || computed != 3 {
		t.Errorf("after the restart z is %v, %d computed", got, computed)
	}
	_ = c.Close(false)
	c = open("bench b")
	if got := do(c, "x", 7); !slices.Equal(got, []float64{7}) {
		t.Errorf("another command got %v", got)
	}
	if err := c.Close(true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a finished run left its checkpoint")
	}
	var none *Checkpoint
	if got := do(none, "x", 8); !slices.Equal(got, []float64{8}) || none.Close(true) != nil {
		t.Error("no checkpoint does not compute")
	}
}

func TestCheckpointIsSafeForConcurrentUse(t *testing.T) {
	c, err := OpenCheckpoint(filepath.Join(t.TempDir(), "c"), "bench")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 50 {
				if _, err := c.Do(string(rune('a'+(i+j)%30)), func() ([]float64, error) { return []float64{1}, nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if err := c.Close(true); err != nil {
		t.Fatal(err)
	}
}
