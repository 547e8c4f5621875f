package reportfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/reportfile"
)

// Reports are written where they are encoded, and counted somewhere else.
func Example() {
	round, mechanism, err := fl.Complete(fl.Round{
		ID: "week-12", Mechanism: "coco", Dim: 4, Scale: 0.5, Epsilon: 4, MinReports: 3,
		Params: fl.Params{"sparsity": fl.Int(2)}, PublicSeed: fl.NewPublicSeed(),
	})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	w, err := reportfile.NewWriter(&file, round)
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		report, err := mechanism.Encode(nil, []float64{0.4, -0.3, 0.2, -0.1}, nil)
		if err != nil {
			log.Fatal(err)
		}
		if err := w.Write(report); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("a file of", file.Len(), "bytes")

	r, err := reportfile.NewReader(&file, round)
	if err != nil {
		log.Fatal(err)
	}
	aggregator := mechanism.NewAggregator()
	for {
		report, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		if err := aggregator.Add(report); err != nil {
			log.Fatal(err)
		}
	}
	estimate, err := aggregator.Estimate()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(estimate.Reports, "reports were counted")
	// Output:
	// a file of 116 bytes
	// 3 reports were counted
}
