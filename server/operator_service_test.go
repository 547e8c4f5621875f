package server_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
)

// The operator names the round it means, also when one only is open.
func TestTheOperatorNamesTheRound(t *testing.T) {
	p := start(t, server.Config{})
	r := open(t, p, puppetRound("r", nil))
	if _, err := submit(t, p, request(t, r, 1, []byte("c"))); err != nil {
		t.Fatal(err)
	}
	_, estimate := p.operator.Estimate(t.Context(), "", false)
	for name, err := range map[string]error{"CloseRound": p.operator.CloseRound(t.Context(), ""), "GetEstimate": estimate} {
		wantField(t, name, errors.Unwrap(err), codes.InvalidArgument, "round_id")
		if err != nil && !strings.Contains(err.Error(), `round_id: got "", rule: is required`) {
			t.Errorf("%s: error %v does not name round_id", name, err)
		}
	}
}

// A report must fit into a message together with 1 KiB of other fields.
func TestReportsMustFitIntoAMessage(t *testing.T) {
	const limit = 64 << 10
	p := start(t, server.Config{MaxMessageBytes: limit})
	sized := func(id string, n int) fl.Round { return puppetRound(id, fl.Params{"report_bytes": fl.Int(n)}) }
	open(t, p, sized("fits", limit-1024))
	for id, n := range map[string]int{"one-too-many": limit - 1023, "no-envelope": limit} {
		_, err := p.operator.OpenRound(t.Context(), sized(id, n))
		wantField(t, id, errors.Unwrap(err), codes.InvalidArgument, "round.dim")
	}
}
