package main

import (
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/estimates"
	"github.com/hushgrad/hushgrad/internal/translog"
)

// Published numbers have the digest of the estimate that they are, to the last bit.
func TestPublishedNumbersHaveTheirDigest(t *testing.T) {
	e := &fl.Estimate{Columns: []fl.Column{
		{Name: "mean", Series: fl.Series{Value: []float64{0.1, -1e-310, math.Copysign(0, -1)}, StdErr: []float64{1. / 3, math.MaxFloat64, 2}}},
		{Name: "frequency", Series: fl.Series{Value: []float64{1, 2, 3}}},
	}}
	var file strings.Builder
	if err := estimates.Of(e).WriteCSV(&file); err != nil {
		t.Fatal(err)
	}
	if got, err := digestOfEstimates(strings.NewReader(file.String())); err != nil || got != translog.EstimateDigest(e) {
		t.Errorf("%s (%v), want %s", got, err, translog.EstimateDigest(e))
	}
	for text, says := range map[string]string{
		"": "no line of names", "key,mean\n0,x\n": "must be numbers", "key,mean\n0,1\n1\n": "wrong number of fields",
		"key,mean\n" + strings.Repeat("1", 2*maxEstimateLine): "bytes in a line",
	} {
		if _, err := digestOfEstimates(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: %v, want %q", text, err, says)
		}
	}
}

// What comes from elsewhere is read within bounds, and never a panic.
func FuzzDigestOfEstimates(f *testing.F) {
	for _, text := range []string{"key,mean\n0,1\n", "key\n0\n", "a,b\n\"x\ny\",2", "\n\n", "key,mean\n0,nan\n", "\""} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = digestOfEstimates(strings.NewReader(text))
	})
}
