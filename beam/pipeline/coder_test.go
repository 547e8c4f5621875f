package pipeline

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestBatchesAreCoded(t *testing.T) {
	for _, b := range []Batch{
		{}, {Round: [32]byte{1, 31: 2}, Seeded: true, File: "dir/file", Reports: [][]byte{{}, []byte("abc")}, Offsets: []int64{0, 1 << 62}},
	} {
		data, err := encodeBatch(b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeBatch(data); err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%+v, error %v, want %+v", got, err, b)
		}
		for cut := range data {
			if got, err := decodeBatch(data[:cut]); err == nil && len(got.Reports) >= len(b.Reports) {
				t.Errorf("%d of %d bytes: %+v", cut, len(data), got)
			}
		}
	}
	if _, err := encodeBatch(Batch{Reports: [][]byte{{}}}); err == nil {
		t.Error("a batch without offsets was encoded")
	}
}

// open is w with the mechanisms of a worker.
func (w *world) open(t testing.TB) (*Combine, mechanisms) {
	t.Helper()
	rounds, err := EncodeRounds([]fl.Round{w.Round})
	if err != nil {
		t.Fatal(err)
	}
	f := &Combine{Rounds: rounds}
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	return f, f.known
}

// count is an accumulator of reports from to to.
func (w *world) count(t testing.TB, from, to int, seeded bool) Accumulator {
	t.Helper()
	_, known := w.open(t)
	digest, err := w.Digest()
	if err != nil {
		t.Fatal(err)
	}
	a, err := known.add(Accumulator{}, Batch{Round: digest, Seeded: seeded, Reports: w.reports[from:to], Offsets: make([]int64, to-from)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Accumulators that were sent and merged in any order have the snapshot of one that counted all,
// and the zero value changes nothing.
func TestAccumulatorsAreMergedAndCoded(t *testing.T) {
	w := newWorld(t, "w", 300)
	f, _ := w.open(t)
	want, err := encodeAccumulator(w.count(t, 0, 300, true))
	if err != nil {
		t.Fatal(err)
	}
	parts := []Accumulator{w.count(t, 0, 100, true), f.CreateAccumulator(), w.count(t, 100, 250, true), w.count(t, 250, 300, true)}
	for shift := range parts {
		all := f.CreateAccumulator()
		for i := range parts {
			data, err := encodeAccumulator(parts[(i+shift)%len(parts)])
			if err != nil {
				t.Fatal(err)
			}
			sent, err := decodeAccumulator(data)
			if err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				all, err = f.AddInput(all, sent)
			} else {
				all, err = f.MergeAccumulators(sent, all)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got, err := encodeAccumulator(all); err != nil || !bytes.Equal(got, want) {
			t.Errorf("from part %d on: %d bytes, error %v, want the %d of one aggregator", shift, len(got), err, len(want))
		}
		if e, err := f.ExtractOutput(all); err != nil || e.Reports != 300 || e.Seeded != 300 || e.ID != "w" || e.Columns[0].Name != fl.ColumnMean || len(e.Columns[0].StdErr) != 50 {
			t.Errorf("%+v, error %v", e, err)
		}
	}
}

// Accumulators of other rounds, and damaged ones, are refused.
func TestBadAccumulatorsAreRefused(t *testing.T) {
	w, other := newWorld(t, "w", 10), newWorld(t, "other", 10)
	f, known := w.open(t)
	a, b := w.count(t, 0, 10, false), other.count(t, 0, 10, false)
	var p *fl.ParamError
	if _, err := f.MergeAccumulators(a, b); !errors.As(err, &p) || p.Param != "round" {
		t.Errorf("another round: error %v", err)
	}
	if _, err := known.add(a, Batch{Round: b.round}); !errors.As(err, &p) || p.Param != "round" {
		t.Errorf("a batch of another round: error %v", err)
	}
	if _, err := f.ExtractOutput(Accumulator{}); !errors.As(err, &p) || p.Param != "round" {
		t.Errorf("nothing: error %v", err)
	}
	data, err := encodeAccumulator(a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 1
		sent, err := decodeAccumulator(damaged)
		if err == nil {
			sent, err = known.open(sent)
		}
		if err != nil {
			continue
		}
		sent.seeded = a.seeded // has no checksum; and a zstd frame has a bit without a meaning
		if again, err := encodeAccumulator(sent); err != nil || !bytes.Equal(again, data) {
			t.Errorf("byte %d of %d is wrong, and there is no error", i, len(data))
		}
	}
	for cut := 1; cut < len(data); cut++ {
		sent, err := decodeAccumulator(data[:cut])
		if err == nil {
			_, err = f.ExtractOutput(sent)
		}
		if err == nil {
			t.Errorf("%d of %d bytes are enough", cut, len(data))
		}
	}
}

func FuzzBatch(f *testing.F) {
	data, err := encodeBatch(Batch{Round: [32]byte{1}, File: "f", Reports: [][]byte{[]byte("abc"), {}}, Offsets: []int64{5, 9}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:40])
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := decodeBatch(data)
		if err != nil {
			return
		}
		again, err := encodeBatch(b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeBatch(again); err != nil || !reflect.DeepEqual(got, b) {
			t.Fatalf("%+v, error %v, want %+v", got, err, b)
		}
	})
}

// Whatever a runner hands over as an accumulator is refused, or can be merged and sent again.
func FuzzAccumulator(f *testing.F) {
	w := newWorld(f, "w", 10)
	combine, _ := w.open(f)
	data, err := encodeAccumulator(w.count(f, 0, 10, true))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:33])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := decodeAccumulator(data)
		if err != nil {
			return
		}
		sum, err := combine.MergeAccumulators(w.count(t, 0, 2, false), a)
		if err != nil {
			return
		}
		if e, err := combine.ExtractOutput(sum); err != nil || e.Reports < 2 {
			t.Fatalf("%d reports, error %v", e.Reports, err)
		}
	})
}
