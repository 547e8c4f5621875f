package pipeline

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/hushgrad/hushgrad/internal/estimates"
)

// A Parquet file has every number with all its bits, under its name and beside its key.
func TestParquetHoldsTheTable(t *testing.T) {
	const dim = 2*parquetRows + 7
	want := &estimates.Table{Dim: dim, Name: func(j int) string { return fmt.Sprint("key ", j) }}
	for _, name := range []string{"mean", "mean_stderr", "frequency"} {
		values := make([]float64, dim)
		for j := range values {
			values[j] = 1 / float64(j+len(name))
		}
		want.Columns = append(want.Columns, estimates.Column{Name: name, Values: values})
	}
	want.Columns[0].Values[3], want.Columns[1].Values[3] = math.Inf(-1), math.NaN()
	var data bytes.Buffer
	if err := writeParquet(&data, want); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Key       string  `parquet:"key"`
		Mean      float64 `parquet:"mean"`
		StdErr    float64 `parquet:"mean_stderr"`
		Frequency float64 `parquet:"frequency"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(data.Bytes()), int64(data.Len()))
	if err != nil || len(rows) != dim {
		t.Fatalf("%d rows, error %v", len(rows), err)
	}
	for j, r := range rows {
		for i, got := range []float64{r.Mean, r.StdErr, r.Frequency} {
			if v := want.Columns[i].Values[j]; r.Key != want.Name(j) || math.Float64bits(got) != math.Float64bits(v) {
				t.Fatalf("row %d, key %q, column %d: %v, want %v", j, r.Key, i, got, v)
			}
		}
	}
}
