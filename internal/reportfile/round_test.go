package reportfile_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/reportfile"
	pb "github.com/hushgrad/hushgrad/proto/hushgrad/v1"
)

// Both forms are the same round, and a file of exactly the largest length is read.
func TestBothFormsAreRead(t *testing.T) {
	want := &pb.Round{Id: "r", Mechanism: "coco", Dim: 3}
	binary, err := proto.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	text, err := protojson.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"protobuf": binary, "JSON": text, "JSON behind spaces": append([]byte("\n  "), text...),
		"largest": append(text, bytes.Repeat([]byte(" "), reportfile.MaxRoundBytes-len(text))...),
	} {
		if got, err := reportfile.ReadRound("f", bytes.NewReader(data)); err != nil || !proto.Equal(got, want) {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
}

func TestOnlyRoundsAreRead(t *testing.T) {
	for rule, in := range map[string]io.Reader{
		"must hold a round":  strings.NewReader(`{"id": 7}`),
		"must be readable":   iotest.ErrReader(errors.New("broken")),
		"must have at most ": strings.NewReader(strings.Repeat(" ", reportfile.MaxRoundBytes+1)),
	} {
		var p *fl.ParamError
		if _, err := reportfile.ReadRound("f", in); !errors.As(err, &p) || p.Got != `"f"` || !strings.HasPrefix(p.Rule, rule) {
			t.Errorf("error %v, want the rule %q", err, rule)
		}
	}
}
