package experiment

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

var namePattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Write leaves the result in the directory, which it makes: NAME.csv (the rows),
// NAME.json (the rows, the verdicts, the notes and their origin) and, if there
// is a figure, NAME.png, NAME.svg and NAME.pdf. Floats keep all their digits. Each
// file is replaced as a whole, and none is touched when the result is invalid,
// for which Write returns a *fl.ParamError.
func Write(ctx context.Context, dir, name string, from Origin, r *Result) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("experiment: %w", fl.Invalid("name", name, "must be lower-case letters and digits, with hyphens between them, such as fig-4"))
	}
	if err := r.Validate(); err != nil {
		return err
	}
	type file struct {
		ending string
		data   bytes.Buffer
	}
	table, record := file{ending: ".csv"}, file{ending: ".json"}
	files := []*file{&table, &record}
	err := errors.Join(r.writeCSV(&table.data), r.writeJSON(&record.data, name, from))
	if r.Plot != nil {
		png, svg, pdf := file{ending: ".png"}, file{ending: ".svg"}, file{ending: ".pdf"}
		files = append(files, &png, &svg, &pdf)
		err = errors.Join(err, paint.PNG(&png.data, r.Plot), paint.SVG(&svg.data, r.Plot), paint.PDF(&pdf.data, r.Plot))
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		err := command.Replace(ctx, filepath.Join(dir, name+f.ending), func(w io.Writer) error {
			_, err := f.data.WriteTo(w)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) writeCSV(w *bytes.Buffer) error {
	records := [][]string{r.Columns}
	for _, row := range r.Rows {
		record := make([]string, len(row))
		for i, cell := range row {
			switch v := cell.(type) {
			case nil:
			case float64:
				record[i] = strconv.FormatFloat(v, 'g', -1, 64)
			default:
				record[i] = fmt.Sprint(v)
			}
		}
		records = append(records, record)
	}
	return csv.NewWriter(w).WriteAll(records)
}
