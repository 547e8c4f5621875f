package client_test

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/client"
)

// A field that this version does not know.
var unknown = protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 1)

func TestJoinRefusesWhatItDidNotAskFor(t *testing.T) {
	for name, c := range map[string]struct {
		id    string
		lie   func(*service.RoundStatus)
		param string // "" for a round that may be joined
	}{
		"the truth":           {"r", func(*service.RoundStatus) {}, ""},
		"whichever is newest": {"", func(*service.RoundStatus) {}, ""},
		"another round":       {"s", func(*service.RoundStatus) {}, "id"},
		"closed":              {"r", func(s *service.RoundStatus) { s.State = service.RoundState_ROUND_STATE_CLOSED }, "state"},
		"expired":             {"r", func(s *service.RoundStatus) { s.State = service.RoundState_ROUND_STATE_EXPIRED }, "state"},
		"no state":            {"r", func(s *service.RoundStatus) { s.State = 0 }, "state"},
		"no round":            {"r", func(s *service.RoundStatus) { s.Round = nil }, "round"},
		"unknown field":       {"r", func(s *service.RoundStatus) { s.GetRound().ProtoReflect().SetUnknown(unknown) }, "round"},
		"invalid round":       {"r", func(s *service.RoundStatus) { s.Round.Epsilon = -1 }, "epsilon"},
	} {
		l := &liar{status: openRound(t)}
		c.lie(l.status)
		_, err := newClient(t, dial(t, l), client.Options{}).Join(t.Context(), c.id)
		var bad *fl.ParamError
		switch {
		case c.param == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.param != "" && (!errors.As(err, &bad) || bad.Param != c.param):
			t.Errorf("%s: error %v, want one about %s", name, err, c.param)
		}
	}
}
