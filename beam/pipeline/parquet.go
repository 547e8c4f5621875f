package pipeline

import (
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/hushgrad/hushgrad/internal/estimates"
)

// parquetRows are written at once.
const parquetRows = 1024

// writeParquet writes a table as a Parquet file: a column key of strings and a column of doubles
// for every other one. Package parquet-go writes it, which is kept, needs no C and brings no
// second copy of gRPC; arrow-go would bring Flatbuffers and Thrift for the same file.
func writeParquet(w io.Writer, t *estimates.Table) error {
	group := parquet.Group{"key": parquet.String()}
	for _, c := range t.Columns {
		group[c.Name] = parquet.Leaf(parquet.DoubleType)
	}
	schema := parquet.NewSchema("estimates", group)
	values := make([][]float64, len(schema.Columns())) // nil for key
	for i, path := range schema.Columns() {
		for _, c := range t.Columns {
			if path[0] == c.Name {
				values[i] = c.Values
			}
		}
	}
	out := parquet.NewGenericWriter[any](w, schema)
	rows := make([]parquet.Row, 0, parquetRows)
	for j := range t.Dim {
		row := make(parquet.Row, len(values))
		for i, column := range values {
			v := parquet.ValueOf(t.Name(j))
			if column != nil {
				v = parquet.ValueOf(column[j])
			}
			row[i] = v.Level(0, 0, i)
		}
		if rows = append(rows, row); len(rows) == cap(rows) || j == t.Dim-1 {
			if _, err := out.WriteRows(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	return out.Close()
}
