package figure_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/figure"
)

func written(t testing.TB, f figure.Figure) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A program that reads a figure has what the other one wrote, without points that nobody sees.
func TestFiguresAreReadAsTheyWereWritten(t *testing.T) {
	f := figure.Figure{Title: "ε", Panels: []figure.Panel{{LogX: true, YRange: [2]float64{1, 2}, Series: []figure.Series{
		{Name: "a", X: []float64{1, 2, 3}, Y: []float64{math.Inf(1), -3, math.NaN()}, Style: figure.Proved},
		{Name: "b", Y: []float64{1}, YLow: []float64{0}, YHigh: []float64{2}},
	}}}}
	got, err := figure.Read(bytes.NewReader(written(t, f)))
	if first := f.Panels[0].Series[0]; len(first.Y) != 3 {
		t.Errorf("writing has changed the figure: %v", first)
	}
	f.Panels[0].Series[0].X, f.Panels[0].Series[0].Y = []float64{2}, []float64{-3}
	if err != nil || !reflect.DeepEqual(*got, f) {
		t.Errorf("%+v, %v, want %+v", got, err, f)
	}
}

// What is too long is refused, whatever it holds.
func TestLongFiguresAreRefused(t *testing.T) {
	long := written(t, figure.Figure{Title: strings.Repeat("a", figure.MaxBytes)})
	if _, err := figure.Read(bytes.NewReader(long)); err == nil || !strings.Contains(err.Error(), "more than 16777216 bytes") {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, figure.Figure{Title: "a", Panels: []figure.Panel{{Series: []figure.Series{{X: []float64{1}, Y: []float64{2}}}}}}))
	f.Add([]byte("<svg>"))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = figure.Read(bytes.NewReader(text)) })
}
