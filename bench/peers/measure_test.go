package main

import (
	"errors"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// fake counts its calls and sends reports of a given size. To join takes it at
// least 1 ms and to add at least 2 ms: a sleep never ends early.
type fake struct {
	size                         int
	joined, encoded, added, read int
	fail                         error // of add
}

func (f *fake) about() about { return about{Name: "fake"} }

func (f *fake) join() error {
	f.joined++
	time.Sleep(time.Millisecond)
	return nil
}

func (f *fake) encode(fl.Ternary) (report, error) {
	f.encoded++
	return report{nonce: make([]byte, 16), parts: [][]byte{make([]byte, f.size), make([]byte, 1)}}, nil
}

func (f *fake) add(report) error {
	f.added++
	time.Sleep(2 * time.Millisecond)
	return f.fail
}

func (f *fake) sum() ([]float64, error) {
	f.read++
	return nil, nil
}

func TestMeasureComparesToTheFirst(t *testing.T) {
	first, second := &fake{size: 9}, &fake{size: 39}
	rows, err := measure([]contender{first, second}, sample(7), time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].Bytes != 10 || rows[1].Bytes != 40 {
		t.Errorf("%g and %g bytes, want 10 and 40", rows[0].Bytes, rows[1].Bytes)
	}
	if rows[0].Ratios != (ratios{1, 1, 1}) {
		t.Errorf("the first row's ratios are %+v", rows[0].Ratios)
	}
	r := rows[1]
	if r.Join < 1000 || r.Server < 2000 {
		t.Errorf("joining costs %g µs and adding %g µs, want at least 1000 and 2000", r.Join, r.Server)
	}
	if want := (ratios{4, r.Client / rows[0].Client, r.Server / rows[0].Server}); r.Ratios != want {
		t.Errorf("ratios %+v, want %+v", r.Ratios, want)
	}
	for _, f := range []*fake{first, second} {
		if f.read != repetitions {
			t.Errorf("the sum was read %d times, want %d", f.read, repetitions)
		}
		if f.joined < repetitions {
			t.Errorf("%d times joined: fewer than one per repetition", f.joined)
		}
		if f.encoded < 7+repetitions || f.added < 7+2*repetitions {
			t.Errorf("%d reports encoded and %d added: fewer than one per repetition", f.encoded, f.added)
		}
	}
}

func TestMeasureStopsAtErrors(t *testing.T) {
	want := errors.New("refused")
	if _, err := measure([]contender{&fake{fail: want}}, sample(1), time.Millisecond); !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

// Every repetition runs the same number of operations, and the cost is the cost of
// one operation.
func TestLoopDividesByItsCount(t *testing.T) {
	calls := 0
	l := &loop{count: 40, op: func(i int) error {
		if i != calls%40 {
			t.Errorf("operation %d has number %d", calls, i)
		}
		calls++
		return nil
	}}
	for range 3 {
		if err := l.repeat(); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 120 || len(l.costs) != 3 {
		t.Errorf("%d calls in %d repetitions, want 120 in 3", calls, len(l.costs))
	}
	slow := &loop{count: 2, op: func(int) error { time.Sleep(5 * time.Millisecond); return nil }}
	if err := slow.repeat(); err != nil {
		t.Fatal(err)
	}
	if slow.costs[0] < 5000 {
		t.Errorf("%g µs per operation, want at least 5000", slow.costs[0])
	}
}

func TestMedianIsTheMiddleValue(t *testing.T) {
	values := []float64{9, 1, 5, 2, 30}
	if got := median(values); got != 5 {
		t.Errorf("median %g, want 5", got)
	}
	if values[0] != 9 {
		t.Error("the values were reordered")
	}
}
