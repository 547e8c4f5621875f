package client_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/client"
)

func TestEstimateRefusesWhatWasNotAnnounced(t *testing.T) {
	// chunk has n means and m standard errors from offset; the first carries the
	// header.
	chunk := func(offset, n, m int) *service.GetEstimateResponse {
		return &service.GetEstimateResponse{Offset: uint32(offset), Mean: []float64{1, 2, 3, 4, 5}[:n], StdErr: []float64{.1, .2, .3, .4, .5}[:m]}
	}
	first := func(dim uint32, m *service.GetEstimateResponse) *service.GetEstimateResponse {
		m.Header = &service.EstimateHeader{RoundId: "r", Mechanism: "coco", Dim: dim, Reports: 9}
		return m
	}
	type messages = []*service.GetEstimateResponse
	for name, c := range map[string]struct {
		messages messages
		says     string
	}{
		"nothing":             {nil, "got 0 coordinates"},
		"no header":           {messages{chunk(0, 3, 3)}, "header.dim: got 0"},
		"dim 0":               {messages{first(0, chunk(0, 0, 0))}, "header.dim: got 0"},
		"dim too large":       {messages{first(fl.MaxDim+1, chunk(0, 1, 1))}, "header.dim: got 134217729"},
		"first offset":        {messages{first(3, chunk(1, 3, 3))}, "at 1, expected at 0 of 3"},
		"gap":                 {messages{first(3, chunk(0, 1, 1)), chunk(2, 1, 1), chunk(1, 1, 1)}, "at 2, expected at 1 of 3"},
		"repeated":            {messages{first(4, chunk(0, 2, 2)), chunk(0, 2, 2)}, "at 0, expected at 2 of 4"},
		"overlong":            {messages{first(3, chunk(0, 4, 4))}, "chunk of 4 means"},
		"overlong later":      {messages{first(3, chunk(0, 2, 2)), chunk(2, 2, 2)}, "chunk of 2 means"},
		"few standard errors": {messages{first(3, chunk(0, 3, 2))}, "3 means and 2 errors"},
		"many":                {messages{first(3, chunk(0, 3, 4))}, "3 means and 4 errors"},
		"ends early":          {messages{first(3, chunk(0, 2, 2))}, "got 2 coordinates"},
	} {
		e, err := client.NewOperator(dial(t, &liar{estimate: c.messages})).Estimate(t.Context(), "r", false)
		if !errors.Is(err, client.ErrIncomplete) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %+v, %v, want ErrIncomplete saying %q", name, e, err, c.says)
		}
	}

	good := messages{first(5, chunk(0, 2, 2)), {Offset: 2, Mean: []float64{3, 4, 5}, StdErr: []float64{.3, .4, .5}}}
	e, err := client.NewOperator(dial(t, &liar{estimate: good})).Estimate(t.Context(), "r", false)
	if err != nil || e.Reports != 9 || e.Mechanism != "coco" ||
		!slices.Equal(e.Value, []float64{1, 2, 3, 4, 5}) || !slices.Equal(e.StdErr, []float64{.1, .2, .3, .4, .5}) {
		t.Errorf("the truth: %+v, %v", e, err)
	}
}
