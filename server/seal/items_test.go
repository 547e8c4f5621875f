package seal_test

import (
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/seal"
)

// A report without its token would have another length than the reports of other clients.
func TestAnItemIsAReportWithItsToken(t *testing.T) {
	r, m := sealedRound(t, coco.Name, seal.X25519, func(r *fl.Round) { r.IssuerKey, r.OuterIssuerKey = []byte{1}, outerKey(t) })
	sealer, err := seal.NewItemSealer(r, m)
	if err != nil {
		t.Fatal(err)
	}
	report, err := m.Encode(nil, make([]float64, r.Dim), nil)
	if err != nil {
		t.Fatal(err)
	}
	token := make([]byte, admit.TokenBytes)
	if item, err := sealer.Item(report, token); err != nil || len(item) != sealer.Format().Item() {
		t.Errorf("an item of %d bytes, %v, want %d", len(item), err, sealer.Format().Item())
	}
	var param *fl.ParamError
	for name, c := range map[string]struct{ report, token []byte }{
		"report": {report[1:], token}, "token": {report, nil},
	} {
		if _, err := sealer.Item(c.report, c.token); !errors.As(err, &param) || param.Param != name {
			t.Errorf("%v, want an error for %s", err, name)
		}
	}
	if _, err := sealer.Items([][]byte{report, report}); !errors.As(err, &param) || param.Param != "token" {
		t.Errorf("reports without tokens: %v", err)
	}
	r.Shuffler = ""
	if _, err := seal.NewItemSealer(r, m); !errors.As(err, &param) || param.Param != "shuffler" {
		t.Errorf("a round without a shuffler: %v", err)
	}
}
