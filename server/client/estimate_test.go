package client_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
)

// threeColumns are chunk's columns.
var threeColumns = []string{fl.ColumnMean, fl.ColumnFrequency, fl.ColumnConditional}

// chunk has n coordinates from offset in all three columns, the last one without standard
// errors. Coordinate j has the numbers j+0.1 … j+0.5.
func chunk(offset, n int) *service.GetEstimateResponse {
	numbers := func(tenth float64) []float64 {
		var out []float64
		for j := offset; j < offset+n; j++ {
			out = append(out, float64(j)+tenth)
		}
		return out
	}
	return &service.GetEstimateResponse{Offset: uint32(offset), Columns: []*service.ColumnChunk{
		{Value: numbers(.1), StdErr: numbers(.2)}, {Value: numbers(.3), StdErr: numbers(.4)}, {Value: numbers(.5)},
	}}
}

// with changes a chunk.
func with(m *service.GetEstimateResponse, change func(columns []*service.ColumnChunk)) *service.GetEstimateResponse {
	change(m.Columns)
	return m
}

// announce makes a chunk the first one.
func announce(dim uint32, m *service.GetEstimateResponse) *service.GetEstimateResponse {
	m.Header = &service.EstimateHeader{
		RoundId: "r", Mechanism: "coco", Dim: dim, Reports: 9, NoiseNorm: 0.5, Columns: slices.Clone(threeColumns),
		Guarantee: fl.Guarantee{Trust: fl.Local, Epsilon: 2, Relation: fl.ReplaceOne}.Proto(),
	}
	return m
}

// named is announce with other names of the columns.
func named(m *service.GetEstimateResponse, columns ...string) *service.GetEstimateResponse {
	announce(3, m).Header.Columns = columns
	return m
}

// suspect names coordinates of a chunk, from its offset on.
func suspect(m *service.GetEstimateResponse, coordinates ...uint32) *service.GetEstimateResponse {
	m.Suspects = coordinates
	return m
}

// noisy is announce with another norm of the noise.
func noisy(norm float64) *service.GetEstimateResponse {
	m := announce(3, chunk(0, 3))
	m.Header.NoiseNorm = norm
	return m
}

// narrow leaves the first n columns of a chunk.
func narrow(m *service.GetEstimateResponse, n int) *service.GetEstimateResponse {
	m.Columns = m.Columns[:n]
	return m
}

func TestEstimateRefusesWhatWasNotAnnounced(t *testing.T) {
	type messages = []*service.GetEstimateResponse
	type columns = []*service.ColumnChunk
	many := named(chunk(0, 3), append([]string{fl.ColumnMean}, strings.Split("abcdefghi", "")...)...)
	for name, c := range map[string]struct {
		messages messages
		says     string
	}{
		"nothing":           {nil, `got "0 coordinates", rule: must have the 0`},
		"no header":         {messages{chunk(0, 3)}, "header.dim: got 0"},
		"dim 0":             {messages{announce(0, chunk(0, 1))}, "header.dim: got 0"},
		"dim too large":     {messages{announce(fl.MaxDim+1, chunk(0, 1))}, "header.dim: got 134217729"},
		"no names":          {messages{named(chunk(0, 3))}, "header.columns: got []"},
		"no mean":           {messages{named(narrow(chunk(0, 3), 1), fl.ColumnFrequency)}, `must be "mean" and at most 8 more`},
		"mean not first":    {messages{named(chunk(0, 3), "frequency", "mean", "conditional")}, `must be "mean" and at most 8 more`},
		"ten columns":       {messages{many}, `must be "mean" and at most 8 more`},
		"mean twice":        {messages{named(chunk(0, 3), "mean", "frequency", "mean")}, `header.columns: got "mean", rule: must be listed once`},
		"column twice":      {messages{named(chunk(0, 3), "mean", "plus", "plus")}, `header.columns: got "plus", rule: must be listed once`},
		"negative noise":    {messages{noisy(-1)}, "header.noise_norm: got -1, rule: must be ≥ 0"},
		"no columns":        {messages{announce(3, narrow(chunk(0, 3), 0))}, "columns: got 0, rule: must be the 3"},
		"a column too few":  {messages{announce(3, narrow(chunk(0, 3), 2))}, "columns: got 2, rule: must be the 3"},
		"a column too many": {messages{named(chunk(0, 3), "mean", "frequency")}, "columns: got 3, rule: must be the 2"},
		"a column fewer":    {messages{announce(3, chunk(0, 2)), narrow(chunk(2, 1), 2)}, "columns: got 2, rule: must be the 3"},
		"no coordinates":    {messages{announce(3, chunk(0, 0)), chunk(0, 3)}, `got "0 coordinates from 0"`},
		"none later":        {messages{announce(3, chunk(0, 2)), chunk(2, 0), chunk(2, 1)}, `got "0 coordinates from 2"`},
		"first offset":      {messages{announce(3, chunk(1, 2))}, "offset: got 1, rule: must be 0"},
		"gap":               {messages{announce(3, chunk(0, 1)), chunk(2, 1), chunk(1, 1)}, "offset: got 2, rule: must be 1"},
		"repeated":          {messages{announce(4, chunk(0, 2)), chunk(0, 2)}, "offset: got 0, rule: must be 2"},
		"overlong":          {messages{announce(3, chunk(0, 4))}, `got "4 coordinates from 0"`},
		"overlong later":    {messages{announce(3, chunk(0, 2)), chunk(2, 2)}, `got "2 coordinates from 2"`},
		"ends early":        {messages{announce(3, chunk(0, 2))}, `got "2 coordinates", rule: must have the 3`},
		"short mean": {messages{announce(3, with(chunk(0, 3), func(c columns) { c[0].Value = c[0].Value[:1] }))},
			`1 values and 3 standard errors of \"mean\"`},
		"short mean error": {messages{announce(3, with(chunk(0, 3), func(c columns) { c[0].StdErr = c[0].StdErr[:2] }))},
			`3 values and 2 standard errors of \"mean\"`},
		"long mean error": {messages{announce(3, with(chunk(0, 3), func(c columns) { c[0].StdErr = append(c[0].StdErr, 1) }))},
			`3 values and 4 standard errors of \"mean\"`},
		"short frequency": {messages{announce(3, with(chunk(0, 3), func(c columns) { c[1].Value = c[1].Value[:2] }))},
			`2 values and 3 standard errors of \"frequency\"`},
		"short error": {messages{announce(3, with(chunk(0, 3), func(c columns) { c[1].StdErr = c[1].StdErr[:2] }))},
			`3 values and 2 standard errors of \"frequency\"`},
		"long error": {messages{announce(3, with(chunk(0, 2), func(c columns) { c[1].StdErr = append(c[1].StdErr, 1) }))},
			`2 values and 3 standard errors of \"frequency\"`},
		"long frequency": {messages{announce(3, with(chunk(0, 2), func(c columns) { c[1].Value = append(c[1].Value, 1) }))},
			`3 values and 2 standard errors of \"frequency\"`},
		"short conditional": {messages{announce(3, with(chunk(0, 3), func(c columns) { c[2].Value = c[2].Value[:1] }))},
			`1 values and 0 standard errors of \"conditional\"`},
		"a column ends": {messages{announce(3, chunk(0, 2)), with(chunk(2, 1), func(c columns) { c[2].Value = nil })},
			`0 values and 0 standard errors of \"conditional\"`},
		"a column begins late": {messages{announce(3, with(chunk(0, 2), func(c columns) { c[2].Value = nil })), chunk(2, 1)},
			`0 values and 0 standard errors of \"conditional\"`},
		"errors end": {messages{announce(3, chunk(0, 2)), with(chunk(2, 1), func(c columns) { c[1].StdErr = nil })},
			`1 values and 0 standard errors of \"frequency\" from 2`},
		"errors begin late": {messages{announce(3, chunk(0, 2)), with(chunk(2, 1), func(c columns) { c[2].StdErr = c[2].Value })},
			`1 values and 1 standard errors of \"conditional\" from 2`},
		"suspects elsewhere": {messages{suspect(announce(3, chunk(0, 2)), 0, 2), chunk(2, 1)}, "suspects: got 2, rule: must be coordinates of the chunk, below 2"},
		"suspects twice":     {messages{suspect(announce(3, chunk(0, 3)), 1, 1)}, "suspects: got 1"},
		"errors of nothing": {messages{announce(3, with(chunk(0, 3), func(c columns) { c[1].Value = nil }))},
			`0 values and 3 standard errors of \"frequency\"`},
	} {
		e, err := client.NewOperator(dial(t, &liar{estimate: c.messages})).Estimate(t.Context(), "r", false)
		var p *fl.ParamError
		if !errors.Is(err, client.ErrIncomplete) || !errors.As(err, &p) || !strings.Contains(err.Error(), c.says) || e != nil {
			t.Errorf("%s: got %+v, %v, want ErrIncomplete saying %q", name, e, err, c.says)
		}
	}
}

func TestEstimateOfSeveralMessages(t *testing.T) {
	read := func(messages ...*service.GetEstimateResponse) *fl.Estimate {
		t.Helper()
		e, err := client.NewOperator(dial(t, &liar{estimate: messages})).Estimate(t.Context(), "r", false)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := read(suspect(announce(5, chunk(0, 2)), 1), suspect(chunk(2, 3), 0, 2))
	if want := []int{1, 2, 4}; !slices.Equal(e.Suspects, want) {
		t.Errorf("suspects %v, want %v", e.Suspects, want)
	}
	if e.Reports != 9 || e.NoiseNorm != 0.5 || e.Mechanism != "coco" || e.Guarantee != (fl.Guarantee{Trust: fl.Local, Epsilon: 2, Relation: fl.ReplaceOne}) || e.Tiers != nil {
		t.Errorf("the header became %+v", e)
	}
	whole := chunk(0, 5).Columns
	if len(e.Columns) != len(whole) {
		t.Fatalf("%d columns, sent were %d", len(e.Columns), len(whole))
	}
	for i, c := range e.Columns {
		if c.Name != threeColumns[i] || !slices.Equal(c.Value, whole[i].Value) || !slices.Equal(c.StdErr, whole[i].StdErr) {
			t.Errorf("column %d: got %+v, sent was %s: %v", i, c, threeColumns[i], whole[i])
		}
	}
	if c, ok := e.Column(fl.ColumnConditional); !ok || c.StdErr != nil {
		t.Errorf("a column without standard errors has %v", c.StdErr)
	}

	e = read(named(narrow(chunk(0, 2), 1), fl.ColumnMean), narrow(chunk(2, 1), 1))
	if mean := chunk(0, 3).Columns[0]; len(e.Columns) != 1 || !slices.Equal(e.Mean().Value, mean.Value) || !slices.Equal(e.Mean().StdErr, mean.StdErr) {
		t.Errorf("the mean alone: %+v", e)
	}
}

// Whatever two messages hold, the estimate is refused or has whole columns.
func FuzzEstimate(f *testing.F) {
	l := &liar{}
	operator := client.NewOperator(dial(f, l))
	marshal := func(m *service.GetEstimateResponse) []byte {
		data, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	f.Add(marshal(announce(5, chunk(0, 2))), marshal(chunk(2, 3)))
	f.Add(marshal(announce(4, chunk(0, 2))), marshal(chunk(1, 2)))
	f.Add(marshal(named(narrow(chunk(0, 2), 1), fl.ColumnMean)), marshal(narrow(chunk(2, 1), 1)))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		l.estimate = nil
		for _, data := range [][]byte{first, second} {
			m := new(service.GetEstimateResponse)
			if proto.Unmarshal(data, m) != nil {
				return
			}
			l.estimate = append(l.estimate, m)
		}
		e, err := operator.Estimate(t.Context(), "r", false)
		if err != nil {
			if e != nil {
				t.Fatalf("an estimate beside the error %v", err)
			}
			return
		}
		at := 0
		for _, m := range l.estimate {
			if n := len(m.GetColumns()[0].GetValue()); int(m.GetOffset()) != at || n == 0 {
				t.Fatalf("%d coordinates at %d follow the first %d", n, m.GetOffset(), at)
			} else {
				at += n
			}
		}
		header := l.estimate[0].GetHeader()
		if len(e.Columns) != len(header.GetColumns()) {
			t.Fatalf("%d columns, announced were %v", len(e.Columns), header.GetColumns())
		}
		for i, c := range e.Columns {
			if dim := int(header.GetDim()); c.Name != header.GetColumns()[i] || len(c.Value) != dim || c.StdErr != nil && len(c.StdErr) != dim {
				t.Fatalf("%q of %d values and %d errors, announced was %q of %d", c.Name, len(c.Value), len(c.StdErr), header.GetColumns()[i], dim)
			}
		}
	})
}
